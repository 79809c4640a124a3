#include "fuzz/custom_mutator.h"

#include <algorithm>
#include <span>

#include "fuzz/case_bytes.h"

// libFuzzer looks for the two functions below by name. They are in the same file as mutate_as_cases(), so that the
// linker takes them from the library where that is called, and only there.

namespace {

brink::MutationLimits& mutation_limits() {
  static brink::MutationLimits limits;
  return limits;
}

// Copies the case's bytes to `out`; 0 where they do not fit, which libFuzzer takes for "try again".
size_t put(const brink::Case& c, uint8_t* out, size_t max_size) {
  const std::vector<uint8_t> bytes = brink::encode(c);
  if (bytes.size() > max_size) return 0;
  std::copy(bytes.begin(), bytes.end(), out);
  return bytes.size();
}

}  // namespace

namespace brink {

void mutate_as_cases(const MutationLimits& limits) { mutation_limits() = limits; }

}  // namespace brink

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  brink::Draws draws(seed);
  return put(brink::mutate(brink::decode({data, size}), draws, mutation_limits()), data, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data, size_t size, const uint8_t* other, size_t other_size,
                                            uint8_t* out, size_t max_size, unsigned seed) {
  brink::Draws draws(seed);
  const brink::Case a = brink::decode({data, size});
  const brink::Case b = brink::decode({other, other_size});
  return put(brink::crossover(a, b, draws, mutation_limits()), out, max_size);
}
