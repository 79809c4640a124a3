#pragma once

#include <cstdint>

#include "kernels/index/arithmetic.h"
#include "kernels/index/expression.h"
#include "kernels/softmax/decomposition.h"

namespace brink {

/// The address arithmetic of the spatial kernels, over the index type `I` (or Traced<I>). Written once: the kernels run
/// it, and the oracle traces it.
template <class I>
struct SpatialAddress {
  I outer_size;
  I dim_size;
  I inner_size;
  I outer_stride;

  BRINK_HOST_DEVICE explicit SpatialAddress(const Decomposition& shape)
      : outer_size(named<I>(Expression::kOuterSize, shape.outer_size)),
        dim_size(named<I>(Expression::kDimSize, shape.dim_size)),
        inner_size(named<I>(Expression::kInnerSize, shape.inner_size)),
        outer_stride(named<I>(Expression::kOuterStride, mul(dim_size, inner_size))) {}

  BRINK_HOST_DEVICE I outer_base(const I& outer) const {
    return named<I>(Expression::kOuterBase, mul(outer, outer_stride));
  }
  BRINK_HOST_DEVICE I inner_start(int64_t block_index, int64_t block_size) const {
    return named<I>(Expression::kInnerStart, block_index * block_size);
  }
  /// Column of a thread: past the end of the row in the row's last block.
  BRINK_HOST_DEVICE I inner_round_up(const I& first, int64_t thread) const {
    return named<I>(Expression::kInnerRoundUp, add(first, named<I>(Expression::kInnerStart, thread)));
  }
  BRINK_HOST_DEVICE I column_offset(const I& base, const I& inner) const {
    return named<I>(Expression::kColumnOffset, add(base, inner));
  }
  BRINK_HOST_DEVICE I element_offset(const I& column, const I& d) const {
    const I dim_offset = named<I>(Expression::kDimOffset, mul(d, inner_size));
    return named<I>(Expression::kElementOffset, add(column, dim_offset));
  }
  BRINK_HOST_DEVICE I outer_next(const I& outer, const I& step) const {
    return named<I>(Expression::kOuterNext, add(outer, step));
  }
  BRINK_HOST_DEVICE I inner_next(const I& inner, const I& step) const {
    return named<I>(Expression::kInnerNext, add(inner, step));
  }
  BRINK_HOST_DEVICE I dim_next(const I& d, const I& step) const { return named<I>(Expression::kDimNext, add(d, step)); }
};

}  // namespace brink
