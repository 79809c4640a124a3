#include "kernels/softmax/decomposition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/index/checked.h"

namespace brink {

std::variant<Decomposition, std::string> decompose(const std::vector<int64_t>& shape, int64_t axis) {
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axes = rank == 0 ? 1 : rank;
  if (axis < -axes || axis >= axes) {
    return fmt::format("axis {} is out of range for shape [{}]: expected {} to {}", axis, fmt::join(shape, ","), -axes,
                       axes - 1);
  }
  if (axis < 0) axis += axes;
  Decomposition result;
  // The product of all non-zero sizes must fit, so that strides do as well even where numel is 0.
  int64_t product = 1;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t size = shape[static_cast<size_t>(i)];
    if (size < 0) return fmt::format("shape [{}] has a negative size {} at axis {}", fmt::join(shape, ","), size, i);
    const auto next = checked_mul(product, size == 0 ? 1 : size);
    if (!next) return fmt::format("shape [{}]: the number of elements overflows int64", fmt::join(shape, ","));
    product = *next;
    int64_t& part = i < axis ? result.outer_size : i == axis ? result.dim_size : result.inner_size;
    part *= size;
  }
  return result;
}

}  // namespace brink
