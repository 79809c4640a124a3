#include "kernels/execution/cuda/cuda_device.h"

namespace brink {

std::optional<std::string> cuda_unavailable() { return "built without CUDA"; }

CudaDevice cuda_device() { return {}; }

Occupancy CudaOccupancy::resident_blocks(const KernelId&, int64_t, int64_t) { return {"built without CUDA", 0}; }

}  // namespace brink
