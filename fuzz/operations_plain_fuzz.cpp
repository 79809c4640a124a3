#include "fuzz/operations_target.h"

// operations_fuzz without its mutator and its counters: what libFuzzer finds by itself. For tools/bench/find_wrap.

namespace {
brink::OperationsTarget* target = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static brink::OperationsTarget made(brink::Device::kHost, *argc, *argv);
  target = &made;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { return target->run({data, size}) ? 0 : -1; }
