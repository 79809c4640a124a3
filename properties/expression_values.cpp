#include "properties/expression_values.h"

#include <algorithm>

namespace brink {

namespace {

// In every loop each counter value below the bound is taken by one thread or block (no launch starts more of them than
// there are values), so the largest step result is the last value plus the step.

void spatial_values(const Decomposition& shape, const Launch& launch, ExpressionValues& values) {
  const Exact outer = shape.outer_size;
  const Exact dim = shape.dim_size;
  const Exact inner = shape.inner_size;
  const Exact outer_stride = dim * inner;
  const Exact outer_base = (outer - 1) * outer_stride;
  // First column of the last block of a row, and the last thread of that block, past the end or not.
  const Exact last_first = (inner - 1) / launch.block_y * launch.block_y;
  const Exact last_column = last_first + launch.block_y - 1;
  const Exact inner_step = static_cast<Exact>(launch.grid_y) * launch.block_y;
  values.consider(Expression::kInnerSize, inner);
  values.consider(Expression::kOuterStride, outer_stride);
  values.consider(Expression::kOuterBase, outer_base);
  values.consider(Expression::kInnerStart, inner_step - launch.block_y);
  values.consider(Expression::kInnerStart, launch.block_y - 1);
  values.consider(Expression::kInnerRoundUp, last_column);
  values.consider(Expression::kColumnOffset, outer_base + last_column);
  values.consider(Expression::kDimOffset, (dim - 1) * inner);
  values.consider(Expression::kElementOffset, outer * outer_stride - 1);
  values.consider(Expression::kOuterNext, outer - 1 + launch.grid_x);
  values.consider(Expression::kInnerNext, last_first + inner_step);
  values.consider(Expression::kDimNext, dim - 1 + launch.block_x);
  values.consider(Expression::kGridX, launch.grid_x);
  values.consider(Expression::kGridY, inner_step);
}

// One row of the block kernel whose first `shift` positions belong to the row before.
void row_values(Exact base, Exact dim, Exact shift, Exact vector, const Launch& launch, ExpressionValues& values) {
  const Exact shifted = dim + shift;
  const Exact vectors = shifted / vector;
  const Exact first = shift > 0 ? 1 : 0;
  const bool all_head = shift > 0 && vectors == 0;
  const Exact whole = all_head ? vector : vectors * vector;
  values.consider(Expression::kShiftedSize, shifted);
  values.consider(Expression::kVectorOffset, all_head ? vectors : whole);
  if (shift > 0) {
    values.consider(Expression::kTailNext, vector - 1);
    values.consider(Expression::kElementOffset, base + std::min(vector, shifted) - 1 - shift);
  }
  values.consider(Expression::kVectorNext, launch.block_x);
  values.consider(Expression::kVectorNext, launch.block_x - 1 + first);
  if (vectors > first) {
    values.consider(Expression::kVectorNext, vectors - 1 + launch.block_x);
    // A vector is addressed by its first element.
    values.consider(Expression::kElementOffset, base + (vectors - 1) * vector - shift);
  }
  values.consider(Expression::kTailNext, whole + launch.block_x - 1);
  if (shifted > whole) {
    values.consider(Expression::kTailNext, shifted - 1 + launch.block_x);
    values.consider(Expression::kElementOffset, base + dim - 1);
  }
}

void block_values(const Decomposition& shape, const Launch& launch, int64_t vector, ExpressionValues& values) {
  const Exact outer = shape.outer_size;
  const Exact dim = shape.dim_size;
  values.consider(Expression::kRowStart, launch.grid_x - 1);
  values.consider(Expression::kRowNext, outer - 1 + launch.grid_x);
  values.consider(Expression::kGridX, launch.grid_x);
  values.consider(Expression::kRowBase, (outer - 1) * dim);
  // The alignment shift comes back after `vector` rows: the first and the last ones show all that there is.
  for (Exact back = 0; back < std::min<Exact>(outer, vector); ++back) {
    for (const Exact row : {back, outer - 1 - back}) {
      row_values(row * dim, dim, row * dim % vector, vector, launch, values);
    }
  }
}

void warp_values(const Decomposition& shape, const Launch& launch, ExpressionValues& values) {
  const Exact outer = shape.outer_size;
  const Exact dim = shape.dim_size;
  const Exact row_step = static_cast<Exact>(launch.grid_x) * launch.block_y;
  values.consider(Expression::kRowStart, row_step - 1);
  values.consider(Expression::kRowNext, outer - 1 + row_step);
  values.consider(Expression::kGridX, row_step);
  values.consider(Expression::kRowBase, (outer - 1) * dim);
  values.consider(Expression::kElementOffset, outer * dim - 1);
  values.consider(Expression::kLaneNext, dim - 1 + launch.block_x);
}

}  // namespace

ExpressionValues largest_values(const Decomposition& shape, const SizedLaunch& sized, DType dtype) {
  ExpressionValues values;
  values.consider(Expression::kOuterSize, shape.outer_size);
  values.consider(Expression::kDimSize, shape.dim_size);
  values.consider(Expression::kByteOffset, (static_cast<Exact>(shape.numel()) - 1) * size_of(dtype));
  switch (sized.variant) {
    case Variant::kColumns:
    case Variant::kReduce:
      spatial_values(shape, sized.launch, values);
      break;
    case Variant::kBlock:
      block_values(shape, sized.launch, vector_size(dtype), values);
      break;
    case Variant::kWarp:
      warp_values(shape, sized.launch, values);
      break;
  }
  return values;
}

}  // namespace brink
