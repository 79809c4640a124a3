#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace brink {

/// A contiguous tensor seen from one of its axes: element (outer, d, inner) lies at
/// outer * dim_size * inner_size + d * inner_size + inner. The three sizes' product is known to fit in int64_t.
struct Decomposition {
  int64_t outer_size = 1;
  int64_t dim_size = 1;
  int64_t inner_size = 1;

  int64_t numel() const { return outer_size * dim_size * inner_size; }
  bool operator==(const Decomposition&) const = default;
};

/// Position of one element in a Decomposition.
struct Position {
  int64_t outer = 0;
  int64_t dim = 0;
  int64_t inner = 0;
  bool operator==(const Position&) const = default;
};

/// A size by its number: 0 outer, 1 dim, 2 inner.
inline int64_t& size_at(Decomposition& shape, int axis) {
  return axis == 0 ? shape.outer_size : axis == 1 ? shape.dim_size : shape.inner_size;
}

/// The position of linear element index `n`, 0 <= n < numel.
inline Position position_of(const Decomposition& shape, int64_t n) {
  const int64_t inner = n % shape.inner_size;
  const int64_t rest = n / shape.inner_size;
  return {rest / shape.dim_size, rest % shape.dim_size, inner};
}

inline int64_t linear_index(const Decomposition& shape, const Position& at) {
  return (at.outer * shape.dim_size + at.dim) * shape.inner_size + at.inner;
}

/// Splits a shape at `axis` (negative axes count from the end, as in PyTorch; a 0-dimensional tensor has axis 0).
/// Returns a one-line error for a negative size, an axis out of range, or a product above int64_t. A shape with a zero
/// size gives numel() == 0; all of its sizes must still be valid.
std::variant<Decomposition, std::string> decompose(const std::vector<int64_t>& shape, int64_t axis);

}  // namespace brink
