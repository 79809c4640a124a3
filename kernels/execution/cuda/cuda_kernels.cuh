#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/execution/cuda/cuda_kernels.h"
#include "kernels/index/arithmetic.h"
#include "kernels/softmax/dtype.h"
#include "kernels/softmax/kernels.h"
#include "kernels/softmax/pack.h"

namespace brink {

/// A loop guard that guards nothing: on a GPU the supervisor's time limit stops a loop that never ends.
struct NoLoopGuard {
  __device__ void tick() {}
};

/// One thread's view of a launch on the GPU; the types are those of HostThread.
class CudaThread {
 public:
  __device__ int thread_x() const { return static_cast<int>(threadIdx.x); }
  __device__ int thread_y() const { return static_cast<int>(threadIdx.y); }
  __device__ int block_x() const { return static_cast<int>(blockDim.x); }
  __device__ int64_t block_y() const { return blockDim.y; }
  __device__ int64_t block_index_x() const { return blockIdx.x; }
  __device__ int64_t block_index_y() const { return blockIdx.y; }
  __device__ int64_t grid_x() const { return gridDim.x; }
  __device__ int64_t grid_y() const { return gridDim.y; }
  __device__ NoLoopGuard loop_guard() const { return {}; }

  __device__ void sync(Barrier /*barrier*/) { __syncthreads(); }
  /// The value of the lane whose x is this one's xor `mask`. Only the lanes of this block row take part: block.x is a
  /// power of two of at most 32, and the rows of a warp may be in different iterations.
  template <class Acc>
  __device__ Acc shuffle_xor(Acc value, int mask) {
    const unsigned width = blockDim.x;
    const unsigned lane = (threadIdx.y * width + threadIdx.x) % 32;
    const unsigned row = width >= 32 ? 0xffffffffu : ((1u << width) - 1) << (lane - threadIdx.x);
    return __shfl_xor_sync(row, value, mask, static_cast<int>(width));
  }
  template <class Acc>
  __device__ Acc* shared() {
    extern __shared__ __align__(16) unsigned char brink_shared_bytes[];
    return reinterpret_cast<Acc*>(brink_shared_bytes);
  }
};

/// What a kernel on the GPU loads from and stores to: pointer + address, unchecked; kVector elements are one 16-byte
/// access.
template <class T>
class CudaMemory {
 public:
  using Traits = ElementTraits<T>;
  using Acc = typename Traits::Acc;
  static constexpr int kVector = Traits::kVector;

  __device__ explicit CudaMemory(const CudaTensors& tensors) : tensors_(tensors) {}

  template <int K, class I>
  __device__ Pack<Acc, K> load(int tensor, const I& at) const {
    const T* from = static_cast<const T*>(tensors_.inputs[tensor]) + address(at);
    Pack<Acc, K> result;
    if constexpr (K == 1) {
      result.v[0] = Traits::load(*from);
    } else {
      static_assert(K == kVector);
      const uint4 raw = *reinterpret_cast<const uint4*>(from);
      T elements[K];
      memcpy(elements, &raw, sizeof(raw));
#pragma unroll
      for (int k = 0; k < K; ++k) result.v[k] = Traits::load(elements[k]);
    }
    return result;
  }
  template <int K, class I>
  __device__ void store(const I& at, const Pack<Acc, K>& values) const {
    T* to = static_cast<T*>(tensors_.output) + address(at);
    if constexpr (K == 1) {
      *to = Traits::store(values.v[0]);
    } else {
      static_assert(K == kVector);
      T elements[K];
#pragma unroll
      for (int k = 0; k < K; ++k) elements[k] = Traits::store(values.v[k]);
      uint4 raw;
      memcpy(&raw, elements, sizeof(raw));
      // An ordinary store, but always one instruction: nvcc 13.0 splits a plain assignment in the i64 kernels.
      __stwb(reinterpret_cast<uint4*>(to), raw);
    }
  }
  __device__ Acc round(Acc value) const { return Traits::load(Traits::store(value)); }
  /// Elements between the last 16-byte boundary and element `base` of each tensor.
  template <class I>
  __device__ int misalignment(const I& base) const {
    const auto elements = static_cast<int64_t>(reinterpret_cast<uintptr_t>(tensors_.output) / sizeof(T));
    return static_cast<int>((elements + static_cast<int64_t>(address(base))) & (kVector - 1));
  }

 private:
  CudaTensors tensors_;
};

/// The grid's first thread says which kernel this is.
template <class T, Operation kOperation, Variant kVariant, class I>
__device__ void leave_stamp(const CudaTensors& tensors, const CudaThread& thread) {
  const bool is_first = blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0 && threadIdx.y == 0;
  if (is_first && tensors.stamp != nullptr) *tensors.stamp = stamp_of<T, kOperation, kVariant, I>(thread);
}

/// The entry point of every kernel: the body is run_kernel's, as on the host.
template <class T, Operation kOperation, Variant kVariant, class I>
__global__ void cuda_kernel(CudaTensors tensors, Decomposition shape) {
  CudaThread thread;
  leave_stamp<T, kOperation, kVariant, I>(tensors, thread);
  const CudaMemory<T> memory(tensors);
  run_kernel<kOperation, kVariant, I>(thread, memory, shape);
}

/// Values that a kernel of Build::kPressure holds in registers from its first instruction to its last: as many index
/// values as a kernel that is unrolled over a column has offsets. 56 of 64 bits are 112 registers, and more than 128
/// with the kernel's own: neither 1,024 nor 512 threads fit in a register file of 65,536.
inline constexpr int kHeldValues = 56;
/// Zeros, which the compiler has to read and to keep: volatile.
static __device__ volatile unsigned long long brink_zeros[kHeldValues];

/// The same body, short of registers.
template <class T, Operation kOperation, Variant kVariant, class I>
__global__ void cuda_kernel_under_pressure(CudaTensors tensors, Decomposition shape) {
  CudaThread thread;
  leave_stamp<T, kOperation, kVariant, I>(tensors, thread);
  I held[kHeldValues];
#pragma unroll
  for (int k = 0; k < kHeldValues; ++k) held[k] = static_cast<I>(brink_zeros[k]);
  const CudaMemory<T> memory(tensors);
  run_kernel<kOperation, kVariant, I>(thread, memory, shape);
  I changed = 0;
#pragma unroll
  for (int k = 0; k < kHeldValues; ++k) changed |= held[k] ^ static_cast<I>(brink_zeros[k]);
  if (changed != 0) brink_zeros[0] = 0;  // never: but without a use nothing would be held
}

namespace detail {

template <class T, Operation kOperation, Variant kVariant, class I>
const void* function_of_build(Build build) {
  if constexpr (!std::is_same_v<I, int32_t>) {
    if (build == Build::kPressure) {
      return reinterpret_cast<const void*>(&cuda_kernel_under_pressure<T, kOperation, kVariant, I>);
    }
  }
  return reinterpret_cast<const void*>(&cuda_kernel<T, kOperation, kVariant, I>);
}

template <class T, Operation kOperation, Variant kVariant>
const void* function_of_index(const KernelId& kernel) {
  switch (kernel.index_type) {
    case IndexType::kU32:
      return function_of_build<T, kOperation, kVariant, uint32_t>(kernel.build);
    case IndexType::kI32:
      return function_of_build<T, kOperation, kVariant, int32_t>(kernel.build);
    case IndexType::kI64:
      return function_of_build<T, kOperation, kVariant, int64_t>(kernel.build);
    default:
      return nullptr;
  }
}

template <class T, Operation kOperation>
const void* function_of_variant(const KernelId& kernel) {
  switch (kernel.variant) {
    case Variant::kWarp:
      return function_of_index<T, kOperation, Variant::kWarp>(kernel);
    case Variant::kBlock:
      return function_of_index<T, kOperation, Variant::kBlock>(kernel);
    case Variant::kColumns:
      return function_of_index<T, kOperation, Variant::kColumns>(kernel);
    case Variant::kReduce:
      break;
  }
  return function_of_index<T, kOperation, Variant::kReduce>(kernel);
}

}  // namespace detail

template <class T>
const void* kernel_function_typed(const KernelId& kernel) {
  switch (kernel.operation) {
    case Operation::kSoftmaxForward:
      return detail::function_of_variant<T, Operation::kSoftmaxForward>(kernel);
    case Operation::kSoftmaxBackward:
      return detail::function_of_variant<T, Operation::kSoftmaxBackward>(kernel);
    case Operation::kLogSoftmaxForward:
      return detail::function_of_variant<T, Operation::kLogSoftmaxForward>(kernel);
    case Operation::kLogSoftmaxBackward:
      break;
  }
  return detail::function_of_variant<T, Operation::kLogSoftmaxBackward>(kernel);
}

}  // namespace brink
