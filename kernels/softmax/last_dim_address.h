#pragma once

#include <cstdint>

#include "kernels/index/arithmetic.h"
#include "kernels/index/expression.h"
#include "kernels/softmax/decomposition.h"

namespace brink {

/// The address arithmetic of the last-axis kernels, over the index type `I` (or Traced<I>); `kVector` elements make one
/// 16-byte vector. A row is laid over whole vectors: `shift` elements of the first belong to the row before.
template <class I, int kVector>
struct LastDimAddress {
  I outer_size;
  I dim_size;

  BRINK_HOST_DEVICE explicit LastDimAddress(const Decomposition& shape)
      : outer_size(named<I>(Expression::kOuterSize, shape.outer_size)),
        dim_size(named<I>(Expression::kDimSize, shape.dim_size)) {}

  BRINK_HOST_DEVICE I row_start(int64_t block_index, int64_t rows_per_block, int64_t thread) const {
    return named<I>(Expression::kRowStart, block_index * rows_per_block + thread);
  }
  BRINK_HOST_DEVICE I row_base(const I& row) const { return named<I>(Expression::kRowBase, mul(row, dim_size)); }
  /// Positions of a row laid over vectors: 0 .. shifted_size - 1, of which the first `shift` are not the row's.
  BRINK_HOST_DEVICE I shifted_size(int shift) const { return named<I>(Expression::kShiftedSize, add(dim_size, shift)); }
  BRINK_HOST_DEVICE I vector_offset(const I& vector) const {
    return named<I>(Expression::kVectorOffset, mul(vector, kVector));
  }
  BRINK_HOST_DEVICE I element_offset(const I& base, const I& position, int shift) const {
    return named<I>(Expression::kElementOffset, add(base, add(position, -shift)));
  }
  BRINK_HOST_DEVICE I row_next(const I& row, const I& step) const {
    return named<I>(Expression::kRowNext, add(row, step));
  }
  BRINK_HOST_DEVICE I vector_next(const I& vector, const I& step) const {
    return named<I>(Expression::kVectorNext, add(vector, step));
  }
  BRINK_HOST_DEVICE I tail_next(const I& position, const I& step) const {
    return named<I>(Expression::kTailNext, add(position, step));
  }
  BRINK_HOST_DEVICE I lane_next(const I& position, const I& step) const {
    return named<I>(Expression::kLaneNext, add(position, step));
  }
};

}  // namespace brink
