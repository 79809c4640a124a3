#include "kernels/execution/cuda/cuda_device.h"

namespace brink {

std::optional<std::string> cuda_unavailable() { return "built without CUDA"; }

CudaDevice cuda_device() { return {}; }

DeviceLimits CudaOccupancy::limits() {
  DeviceLimits limits;
  limits.error = "built without CUDA";
  return limits;
}

KernelAttributes CudaOccupancy::attributes(const KernelId&) {
  KernelAttributes attributes;
  attributes.error = "built without CUDA";
  return attributes;
}

Occupancy CudaOccupancy::resident_blocks(const KernelId&, int64_t, int64_t) { return {"built without CUDA", 0}; }

}  // namespace brink
