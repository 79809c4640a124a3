#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "kernels/index/platform.h"

// In .cu files the 16-bit conversions are CUDA's own, elsewhere Eigen's: both round to nearest even. Only device code
// may use them in a .cu file, so that each inline function has one body on the host.
#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#else
#include <Eigen/Core>
#endif

namespace brink {

/// Element types of the tensors.
enum class DType { kF16, kBF16, kF32, kF64 };

inline constexpr DType kDTypes[] = {DType::kF16, DType::kBF16, DType::kF32, DType::kF64};

constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return "f16";
    case DType::kBF16:
      return "bf16";
    case DType::kF32:
      return "f32";
    case DType::kF64:
      break;
  }
  return "f64";
}

constexpr std::optional<DType> parse_dtype(std::string_view name) {
  for (const DType dtype : kDTypes) {
    if (name_of(dtype) == name) return dtype;
  }
  return std::nullopt;
}

constexpr int64_t size_of(DType dtype) { return dtype == DType::kF64 ? 8 : dtype == DType::kF32 ? 4 : 2; }

/// Storage of a 16-bit float; arithmetic is done in float.
struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};

/// Per element type: the type that sums are kept in, the elements in one 16-byte vector, and conversions that round to
/// nearest even. `Bits` is the unsigned integer of the same size.
template <class T>
struct ElementTraits;

template <>
struct ElementTraits<F16> {
  using Acc = float;
  using Bits = uint16_t;
  static constexpr int kVector = 8;
  static constexpr DType kDType = DType::kF16;
  BRINK_HOST_DEVICE static float load(F16 v) {
#if defined(__CUDACC__)
    return __half2float(__half_raw{v.bits});
#else
    return Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(v.bits));
#endif
  }
  BRINK_HOST_DEVICE static F16 store(float v) {
#if defined(__CUDACC__)
    return {static_cast<__half_raw>(__float2half_rn(v)).x};
#else
    return {Eigen::half_impl::float_to_half_rtne(v).x};
#endif
  }
};

template <>
struct ElementTraits<BF16> {
  using Acc = float;
  using Bits = uint16_t;
  static constexpr int kVector = 8;
  static constexpr DType kDType = DType::kBF16;
  BRINK_HOST_DEVICE static float load(BF16 v) {
#if defined(__CUDACC__)
    return __bfloat162float(__nv_bfloat16_raw{v.bits});
#else
    return Eigen::bfloat16_impl::bfloat16_to_float(Eigen::bfloat16_impl::raw_uint16_to_bfloat16(v.bits));
#endif
  }
  BRINK_HOST_DEVICE static BF16 store(float v) {
#if defined(__CUDACC__)
    return {static_cast<__nv_bfloat16_raw>(__float2bfloat16_rn(v)).x};
#else
    return {Eigen::bfloat16_impl::float_to_bfloat16_rtne<false>(v).value};
#endif
  }
};

template <>
struct ElementTraits<float> {
  using Acc = float;
  using Bits = uint32_t;
  static constexpr int kVector = 4;
  static constexpr DType kDType = DType::kF32;
  BRINK_HOST_DEVICE static float load(float v) { return v; }
  BRINK_HOST_DEVICE static float store(float v) { return v; }
};

template <>
struct ElementTraits<double> {
  using Acc = double;
  using Bits = uint64_t;
  static constexpr int kVector = 2;
  static constexpr DType kDType = DType::kF64;
  BRINK_HOST_DEVICE static double load(double v) { return v; }
  BRINK_HOST_DEVICE static double store(double v) { return v; }
};

/// Elements in one 16-byte vector.
constexpr int vector_size(DType dtype) { return static_cast<int>(16 / size_of(dtype)); }

/// Calls `f` with a value of the storage type that `dtype` names.
template <class F>
decltype(auto) with_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kF16:
      return f(F16{});
    case DType::kBF16:
      return f(BF16{});
    case DType::kF32:
      return f(float{});
    case DType::kF64:
      break;
  }
  return f(double{});
}

}  // namespace brink
