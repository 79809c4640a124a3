#pragma once

#include <cstddef>
#include <cstdint>

#include "properties/execution.h"

// The fuzz targets that examine cases on a device, with mutations of cases and boundary counters.

namespace brink {

/// For LLVMFuzzerInitialize: reads the command line (target_options.h).
int start_operations(Device device, int argc, char** argv);

/// For LLVMFuzzerTestOneInput.
int run_operations(const uint8_t* data, size_t size);

}  // namespace brink
