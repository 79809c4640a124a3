#pragma once

#include "kernels/softmax/launch.h"
#include "kernels/softmax/stamp.h"

namespace brink {

/// The tensors of one execution on the GPU: device addresses, each aligned to 16 bytes. The second input is read by
/// backward operations only.
struct CudaTensors {
  const void* inputs[2] = {nullptr, nullptr};
  void* output = nullptr;
  KernelStamp* stamp = nullptr;  ///< where the grid's first thread leaves its stamp, unless null
};

/// Whether there is a GPU kernel: u32, i32 and i64 plain, u32 and i64 short of registers. Scale models run on the host
/// alone, and so does the torn barrier: what a GPU makes of that is undefined.
constexpr bool has_cuda_kernel(Build build, IndexType type) {
  const bool wide = type == IndexType::kU32 || type == IndexType::kI64;
  if (build == Build::kPressure) return wide;
  return build == Build::kPlain && (wide || type == IndexType::kI32);
}

/// The __global__ function of a kernel, as the CUDA runtime takes it; null where has_cuda_kernel() is false. Its
/// arguments are (CudaTensors, Decomposition).
const void* kernel_function(const KernelId& kernel);

/// kernel_function for one element type; instantiated once each, in cuda_kernels_*.cu.
template <class T>
const void* kernel_function_typed(const KernelId& kernel);

}  // namespace brink
