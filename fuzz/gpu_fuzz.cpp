#include "fuzz/boundary_counters.h"
#include "fuzz/custom_mutator.h"
#include "fuzz/operations_target.h"

// Bytes -> case -> prediction and observation on a GPU, through the aliased address space. The process itself never
// touches the GPU: its worker process does.

namespace {
brink::OperationsTarget* target = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static brink::OperationsTarget made(brink::Device::kCuda, *argc, *argv);
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
