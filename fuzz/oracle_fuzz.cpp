#include "fuzz/boundary_counters.h"
#include "fuzz/case_bytes.h"
#include "fuzz/custom_mutator.h"
#include "fuzz/oracle_check.h"
#include "fuzz/target_options.h"

// The oracle against brute force, with 8- and 16-bit indices.

namespace {
brink::TargetOptions options{brink::oracle_limits(), brink::Role::kSelfCheck};
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  brink::read_options(*argc, *argv, options);
  brink::mutate_as_cases(options.limits);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  brink::count_input();
  const brink::Case c = brink::confined(brink::decode({data, size}), options.limits);
  if (!brink::refusal_of(c, options.limits).empty()) return -1;
  const auto shape = std::get<brink::Decomposition>(brink::decompose(c));
  if (shape.numel() > brink::kWholeMax) return -1;
  if (const std::string line = brink::oracle_problem(c); !line.empty()) {
    brink::abort_with(c, brink::Device::kHost, {line});
  }
  if (shape.numel() == 0) return 0;
  const auto launch = std::get<brink::Dispatch>(brink::dispatch_within(c, options.limits));
  brink::set_counters(brink::distance_counters(c, shape, launch));
  return 0;
}
