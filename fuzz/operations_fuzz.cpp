#include "fuzz/boundary_counters.h"
#include "fuzz/custom_mutator.h"
#include "fuzz/operations_target.h"

// Bytes -> case -> prediction and observation on the host.

namespace {
brink::OperationsTarget* target = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static brink::OperationsTarget made(brink::Device::kHost, *argc, *argv);
  target = &made;
  brink::mutate_as_cases(made.limits());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  brink::count_input();
  const auto examination = target->run({data, size});
  if (!examination) return -1;
  brink::set_counters(brink::counters_of(*examination));
  return 0;
}
