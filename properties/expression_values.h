#pragma once

#include <array>
#include <optional>

#include "kernels/index/expression.h"
#include "kernels/index/traced.h"
#include "kernels/softmax/launch.h"

namespace brink {

/// The largest exact value of each expression in one launch; nothing for an expression that its kernel does not
/// compute. kGridX and kGridY are what the kernel gives those names: its loop steps over rows or slices (grid_x, times
/// block.y for a warp kernel) and over columns (grid_y * block.y). The dimensions themselves are in the launch.
class ExpressionValues {
 public:
  const std::optional<Exact>& operator[](Expression expression) const {
    return largest_[static_cast<size_t>(expression)];
  }
  void consider(Expression expression, Exact value) {
    std::optional<Exact>& largest = largest_[static_cast<size_t>(expression)];
    if (!largest || *largest < value) largest = value;
  }

 private:
  std::array<std::optional<Exact>, kExpressionCount> largest_;
};

/// What every expression of softmax/spatial_address.h and softmax/last_dim_address.h reaches as softmax/kernels.h uses
/// them, had the index type no limit; rows start at multiples of 16 bytes plus row * dim_size elements. The shape must
/// not be empty. Takes the same time for every shape.
ExpressionValues largest_values(const Decomposition& shape, const SizedLaunch& sized, DType dtype);

}  // namespace brink
