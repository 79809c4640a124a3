#include "fuzz/counted_operations.h"

// Bytes -> case -> prediction and observation on the host.

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return brink::start_operations(brink::Device::kHost, *argc, *argv);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { return brink::run_operations(data, size); }
