#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/softmax/launch.h"

// All of these are there without CUDA as well, and say so.

namespace brink {

/// Why no kernel can run on a GPU here, in one line: built without CUDA, no driver, no device, a device that this
/// program has no code for, or a context that an earlier fault of this process destroyed. Nothing where one can.
std::optional<std::string> cuda_unavailable();

/// The GPU that kernels of this process run on.
struct CudaDevice {
  int count = 0;  ///< of GPUs that this process can see; the rest is about the current one
  std::string name;
  int sm_count = 0;
  int compute_major = 0;
  int compute_minor = 0;
  int64_t free_bytes = 0;
  int64_t total_bytes = 0;
  int64_t max_threads_per_block = 0;
  int64_t grid_x_max = 0;
  int64_t grid_y_max = 0;
};

/// All zero where cuda_unavailable() gives a reason.
CudaDevice cuda_device();

/// Launch-sizing answers of the CUDA runtime about this project's real kernels. A kernel that is not there on a GPU
/// gets an error.
class CudaOccupancy : public OccupancyQuery {
 public:
  DeviceLimits limits() override;
  KernelAttributes attributes(const KernelId& kernel) override;
  Occupancy resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) override;
};

}  // namespace brink
