#include "fuzz/counted_operations.h"

// Bytes -> case -> prediction and observation on a GPU, through the aliased address space. The process itself never
// touches the GPU: its worker process does.

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return brink::start_operations(brink::Device::kCuda, *argc, *argv);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { return brink::run_operations(data, size); }
