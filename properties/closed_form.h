#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "kernels/index/platform.h"
#include "kernels/softmax/decomposition.h"
#include "kernels/softmax/dtype.h"
#include "kernels/softmax/operation.h"

namespace brink {

/// A family of inputs whose exact answer is known at every element.
enum class FormFamily {
  kSeed,         ///< PyTorch #188031's, for any dim_size: the same in each column, so it cannot tell columns apart
  kCoded,        ///< every element carries its position
  kCodedOutput,  ///< log_softmax_backward only: the output tensor carries the position too
};

constexpr std::string_view name_of(FormFamily family) {
  switch (family) {
    case FormFamily::kSeed:
      return "seed";
    case FormFamily::kCoded:
      return "coded";
    case FormFamily::kCodedOutput:
      break;
  }
  return "coded_output";
}

constexpr std::optional<FormFamily> parse_form_family(std::string_view name) {
  for (const FormFamily family : {FormFamily::kSeed, FormFamily::kCoded, FormFamily::kCodedOutput}) {
    if (name_of(family) == name) return family;
  }
  return std::nullopt;
}

/// Inputs and answers of one case, by linear element index. All values are exact in `dtype`, and all sums exact in its
/// accumulator in any order, so results are compared bit for bit.
///
/// One element of each column is hot: the last one (the first in the seed's family). It alone adds to the column's sum
/// or maximum, and its value is coded by position, so a column that reads even one element from a wrong place loses its
/// own hot value or meets another column's. The codes are residues modulo an odd prime, which no power of two divides:
/// an address that is off by 2^31 or 2^32 elements carries another code.
///
///   softmax_backward      grad = 1 if hot else 0, output = m/16, m = 8 + n mod p
///                         -> hot: m(16-m)/256, else: -m * m_hot/256
///   log_softmax_backward  grad = m if hot else 0, output = 0  -> hot: 0, else: -m_hot
///   log_softmax_forward   x = c - 64 if hot else -192 - c, c = n mod p  -> hot: 0, else: -128 - c - c_hot
///   softmax_forward       x = -128 * (1 + column mod p)  -> 1/dim_size; rows too long to tell 1/dim_size from its
///                         neighbours take log_softmax_forward's inputs -> hot: 1, else: 0
struct ClosedForm {
  Operation operation = Operation::kSoftmaxBackward;
  DType dtype = DType::kF16;
  FormFamily family = FormFamily::kCoded;
  int prime = 7;
  Decomposition shape;

  static constexpr double kBelowZero = 64;

  /// Longest row for which the rounded 1/dim_size differs from 1/(dim_size - 1).
  BRINK_HOST_DEVICE static constexpr int64_t level_dim_max(DType dtype) {
    return dtype == DType::kBF16 ? 128 : dtype == DType::kF16 ? 1024 : 1 << 22;
  }
  BRINK_HOST_DEVICE bool uses_levels() const {
    return operation == Operation::kSoftmaxForward && family == FormFamily::kCoded &&
           shape.dim_size <= level_dim_max(dtype);
  }
  BRINK_HOST_DEVICE int64_t hot_dim() const { return family == FormFamily::kSeed ? 0 : shape.dim_size - 1; }

  /// Value of element `n` of input `tensor` (0: x or grad; 1: output, backward only).
  BRINK_HOST_DEVICE double input(int tensor, int64_t n) const {
    const double low = dtype == DType::kF64 ? -1024 : -128;
    if (family == FormFamily::kSeed) {
      if (tensor == 1 && is_log(operation)) return 0;
      if (is_forward(operation)) return is_hot(n) ? -kBelowZero : low - kBelowZero;
      return tensor == 0 ? (is_hot(n) ? 1 : 0) : is_hot(n) ? 0.25 : 0.75;
    }
    if (uses_levels()) return low * static_cast<double>(1 + column(n) % prime);
    if (is_forward(operation)) return is_hot(n) ? code(n) - kBelowZero : low - kBelowZero - code(n);
    if (operation == Operation::kSoftmaxBackward) return tensor == 1 ? (8 + code(n)) / 16 : is_hot(n) ? 1 : 0;
    if (tensor == 0) return is_hot(n) ? 8 + code(n) : 0;
    // A row of one element: exp(output) = 0 leaves grad as it is; otherwise its answer would be 0 whatever was read.
    return shape.dim_size == 1 || output_is_masked(n) ? -std::numeric_limits<double>::infinity() : 0;
  }

  /// The exact answer at element `n`.
  BRINK_HOST_DEVICE double expected(int64_t n) const {
    const int64_t stride = shape.inner_size;
    const int64_t d = (n / stride) % shape.dim_size;
    const int64_t hot = n + (hot_dim() - d) * stride;
    switch (operation) {
      case Operation::kSoftmaxForward:
        if (uses_levels()) return reciprocal(shape.dim_size);
        return n == hot ? 1 : 0;
      case Operation::kLogSoftmaxForward:
        return n == hot ? 0 : input(0, n) - input(0, hot);
      case Operation::kSoftmaxBackward: {
        const double sum = input(0, hot) * input(1, hot);
        return input(0, n) * input(1, n) - input(1, n) * sum;
      }
      case Operation::kLogSoftmaxBackward:
        break;
    }
    return input(0, n) - (input(1, n) == 0 ? input(0, hot) : 0);
  }

 private:
  BRINK_HOST_DEVICE double code(int64_t n) const { return static_cast<double>(n % prime); }
  /// Whether `n` is the hot element of its column.
  BRINK_HOST_DEVICE bool is_hot(int64_t n) const {
    const int64_t row = shape.inner_size == 1 ? n : n / shape.inner_size;
    return row % shape.dim_size == hot_dim();
  }
  BRINK_HOST_DEVICE int64_t column(int64_t n) const {
    const int64_t stride = shape.inner_size;
    return n / (stride * shape.dim_size) * stride + n % stride;
  }
  BRINK_HOST_DEVICE bool output_is_masked(int64_t n) const {
    return family == FormFamily::kCodedOutput && n % prime % 2 == 1;
  }
  BRINK_HOST_DEVICE double reciprocal(int64_t size) const {
    if (dtype == DType::kF64) return 1 / static_cast<double>(size);
    return static_cast<double>(1 / static_cast<float>(size));
  }
};

}  // namespace brink
