#pragma once

#include <string>

#include "kernels/execution/cuda/cuda_kernels.h"
#include "kernels/softmax/decomposition.h"
#include "kernels/softmax/launch.h"

namespace brink {

/// How a launch on the GPU ended. After kFault the process's CUDA context is lost: nothing more runs in it.
enum class CudaLaunchEnd {
  kCompleted,
  kRejected,     ///< the launch itself was refused: grid, block, shared memory or registers
  kFault,        ///< the kernel ran and broke: illegal or misaligned address, launch failure, time-out
  kNotExecuted,  ///< anything else: no code for the device, no memory, a context that was lost before
};

struct CudaLaunchResult {
  CudaLaunchEnd end = CudaLaunchEnd::kNotExecuted;
  std::string reason;    ///< one line, empty where the kernel completed
  double kernel_ms = 0;  ///< between CUDA events around the kernel
};

/// Launches a kernel on the default stream and waits for it; there is no time limit. Grid, block and shared bytes go to
/// the driver as they are, which refuses a grid of 0 blocks itself: those beyond 32 bits or below 0, and blocks below
/// 1, are rejected here.
CudaLaunchResult launch_on_cuda(const KernelId& kernel, const Launch& launch, const Decomposition& shape,
                                const CudaTensors& tensors);

}  // namespace brink
