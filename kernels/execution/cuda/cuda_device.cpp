#include "kernels/execution/cuda/cuda_device.h"

#include <cuda_runtime_api.h>

#include <limits>

#include "kernels/execution/cuda/cuda_error.h"
#include "kernels/execution/cuda/cuda_kernels.h"

namespace brink {

namespace {

std::string no_kernel(const KernelId& kernel) {
  return "no such GPU kernel of index type " + std::string(name_of(kernel.index_type));
}

}  // namespace

std::optional<std::string> cuda_unavailable() {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    cudaGetLastError();
    if (error == cudaErrorInsufficientDriver) return "no CUDA driver, or one older than this program's CUDA runtime";
    if (error == cudaErrorNoDevice) return "no CUDA device";
    return cuda_failure("no usable CUDA device", error);
  }
  if (count == 0) return "no CUDA device";
  // Makes the context, or finds it destroyed.
  cudaError_t context = cudaFree(nullptr);
  if (context == cudaSuccess) context = cudaDeviceSynchronize();
  if (context != cudaSuccess) {
    cudaGetLastError();
    return cuda_failure("no usable CUDA context", context);
  }
  const KernelId any{Operation::kSoftmaxForward, Variant::kWarp, DType::kF32, IndexType::kI64};
  cudaFuncAttributes attributes{};
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel_function(any)); error != cudaSuccess) {
    cudaGetLastError();
    return cuda_failure("this program has no code for the device", error);
  }
  return std::nullopt;
}

CudaDevice cuda_device() {
  CudaDevice device;
  if (cuda_unavailable()) return device;
  int id = 0;
  cudaDeviceProp properties{};
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  const bool known = cudaGetDeviceCount(&device.count) == cudaSuccess && cudaGetDevice(&id) == cudaSuccess &&
                     cudaGetDeviceProperties(&properties, id) == cudaSuccess &&
                     cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess;
  if (!known) {
    cudaGetLastError();
    return device;
  }
  device.name = properties.name;
  device.sm_count = properties.multiProcessorCount;
  device.compute_major = properties.major;
  device.compute_minor = properties.minor;
  device.free_bytes = static_cast<int64_t>(free_bytes);
  device.total_bytes = static_cast<int64_t>(total_bytes);
  device.max_threads_per_block = properties.maxThreadsPerBlock;
  device.grid_x_max = properties.maxGridSize[0];
  device.grid_y_max = properties.maxGridSize[1];
  return device;
}

DeviceLimits CudaOccupancy::limits() {
  DeviceLimits limits;
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  const auto read = [&](cudaDeviceAttr attribute, int64_t& value) {
    int found = 0;
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&found, attribute, device);
    value = found;
  };
  read(cudaDevAttrMaxThreadsPerBlock, limits.threads);
  read(cudaDevAttrMaxGridDimX, limits.grid_x);
  read(cudaDevAttrMaxGridDimY, limits.grid_y);
  read(cudaDevAttrMaxGridDimZ, limits.grid_z);
  read(cudaDevAttrMaxSharedMemoryPerBlock, limits.shared_bytes);
  if (error != cudaSuccess) {
    cudaGetLastError();
    limits.error = cudaGetErrorString(error);
  }
  return limits;
}

KernelAttributes CudaOccupancy::attributes(const KernelId& kernel) {
  KernelAttributes attributes;
  const void* function = kernel_function(kernel);
  if (function == nullptr) {
    attributes.error = no_kernel(kernel);
    return attributes;
  }
  cudaFuncAttributes found{};
  if (const cudaError_t error = cudaFuncGetAttributes(&found, function); error != cudaSuccess) {
    cudaGetLastError();
    attributes.error = cudaGetErrorString(error);
    return attributes;
  }
  attributes.registers = found.numRegs;
  attributes.max_threads = found.maxThreadsPerBlock;
  attributes.static_shared_bytes = static_cast<int64_t>(found.sharedSizeBytes);
  return attributes;
}

Occupancy CudaOccupancy::resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) {
  const void* function = kernel_function(kernel);
  if (function == nullptr) return {no_kernel(kernel), 0};
  if (threads < 1 || threads > std::numeric_limits<int>::max() || shared_bytes < 0) {
    return {"threads or shared memory of a block out of range", 0};
  }
  int device = 0;
  int multiprocessors = 0;
  int blocks = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  }
  if (error == cudaSuccess) {
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, static_cast<int>(threads),
                                                          static_cast<size_t>(shared_bytes));
  }
  if (error != cudaSuccess) {
    cudaGetLastError();
    return {cudaGetErrorString(error), 0};
  }
  return {"", int64_t{blocks} * multiprocessors};
}

}  // namespace brink
