#include "kernels/execution/cuda/cuda_launch.h"

#include <cuda_runtime_api.h>

#include <limits>

#include "kernels/execution/cuda/cuda_error.h"

namespace brink {

namespace {

class CudaEvent {
 public:
  CudaEvent() : error_(cudaEventCreate(&event_)) {}
  ~CudaEvent() {
    if (error_ == cudaSuccess) cudaEventDestroy(event_);
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  cudaError_t error() const { return error_; }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
  cudaError_t error_;
};

bool fits(int64_t value, int64_t least) { return value >= least && value <= std::numeric_limits<unsigned>::max(); }

CudaLaunchResult failed(CudaLaunchEnd end, const char* what, cudaError_t error) {
  cudaGetLastError();
  return {end, cuda_failure(what, error), 0};
}

// What a launch call's own error means: the launch is refused, or something else is wrong. An error of the kernel
// itself shows when it is waited for.
CudaLaunchEnd end_of_launch_error(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorInvalidValue:
      return CudaLaunchEnd::kRejected;
    default:
      return CudaLaunchEnd::kNotExecuted;
  }
}

}  // namespace

CudaLaunchResult launch_on_cuda(const KernelId& kernel, const Launch& launch, const Decomposition& shape,
                                const CudaTensors& tensors) {
  const void* function = kernel_function(kernel);
  if (function == nullptr) {
    return {CudaLaunchEnd::kNotExecuted, "no such GPU kernel of index type " + std::string(name_of(kernel.index_type)),
            0};
  }
  if (!fits(launch.grid_x, 0) || !fits(launch.grid_y, 0) || !fits(launch.block_x, 1) || !fits(launch.block_y, 1) ||
      !fits(launch.shared_bytes, 0)) {
    return {CudaLaunchEnd::kRejected, "a launch dimension does not fit in 32 bits, or a block has no threads", 0};
  }
  CudaEvent start;
  CudaEvent stop;
  for (const CudaEvent* event : {&start, &stop}) {
    if (event->error() != cudaSuccess) return failed(CudaLaunchEnd::kNotExecuted, "cudaEventCreate", event->error());
  }
  // Whatever went before has ended, so that an error that shows from here on is this kernel's.
  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
    return failed(CudaLaunchEnd::kNotExecuted, "before the launch", error);
  }
  if (const cudaError_t error = cudaEventRecord(start.get()); error != cudaSuccess) {
    return failed(CudaLaunchEnd::kNotExecuted, "cudaEventRecord", error);
  }
  const dim3 grid(static_cast<unsigned>(launch.grid_x), static_cast<unsigned>(launch.grid_y));
  const dim3 block(static_cast<unsigned>(launch.block_x), static_cast<unsigned>(launch.block_y));
  CudaTensors tensors_argument = tensors;
  Decomposition shape_argument = shape;
  void* arguments[] = {&tensors_argument, &shape_argument};
  if (const cudaError_t error =
          cudaLaunchKernel(function, grid, block, arguments, static_cast<size_t>(launch.shared_bytes), nullptr);
      error != cudaSuccess) {
    return failed(end_of_launch_error(error), "launch", error);
  }
  cudaError_t error = cudaEventRecord(stop.get());
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error != cudaSuccess) return failed(CudaLaunchEnd::kFault, "kernel", error);
  float ms = 0;
  if (error = cudaEventElapsedTime(&ms, start.get(), stop.get()); error != cudaSuccess) {
    return failed(CudaLaunchEnd::kNotExecuted, "cudaEventElapsedTime", error);
  }
  return {CudaLaunchEnd::kCompleted, "", ms};
}

}  // namespace brink
