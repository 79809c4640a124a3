#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace brink {

/// One named intermediate of the kernels' address arithmetic. Where each is computed: softmax/spatial_address.h and
/// softmax/last_dim_address.h.
enum class Expression : uint8_t {
  kOuterSize,      ///< outer_size narrowed to the index type
  kDimSize,        ///< dim_size narrowed to the index type
  kInnerSize,      ///< inner_size narrowed to the index type
  kOuterStride,    ///< dim_size * inner_size
  kOuterBase,      ///< outer * outer_stride
  kInnerStart,     ///< block index * block.y: the first column of a block
  kInnerRoundUp,   ///< first column of the block + thread: past the end in the last block of a row
  kColumnOffset,   ///< outer_base + inner
  kDimOffset,      ///< d * inner_size
  kElementOffset,  ///< column_offset + dim_offset, or row_base + position in the row
  kRowStart,       ///< block index * rows per block + thread: the first row of a thread
  kRowBase,        ///< row * dim_size
  kShiftedSize,    ///< dim_size + alignment shift
  kVectorOffset,   ///< vector * elements per vector
  kOuterNext,      ///< loop step over outer slices
  kInnerNext,      ///< loop step over columns
  kDimNext,        ///< loop step over the reduced dimension
  kRowNext,        ///< loop step over rows
  kVectorNext,     ///< loop step over vectors
  kTailNext,       ///< loop step over the tail behind the last whole vector
  kLaneNext,       ///< loop step of a warp's lanes over a short row
  kByteOffset,     ///< element_offset * sizeof(element): 64-bit pointer arithmetic in every kernel here
  kGridX,          ///< grid dimension x
  kGridY,          ///< grid dimension y
  kNone,
};

inline constexpr int kExpressionCount = static_cast<int>(Expression::kNone);

constexpr std::string_view name_of(Expression expression) {
  constexpr std::array<std::string_view, kExpressionCount + 1> kNames = {
      "outer_size",    "dim_size",   "inner_size",     "outer_stride", "outer_base",  "inner_start",  "inner_round_up",
      "column_offset", "dim_offset", "element_offset", "row_start",    "row_base",    "shifted_size", "vector_offset",
      "outer_next",    "inner_next", "dim_next",       "row_next",     "vector_next", "tail_next",    "lane_next",
      "byte_offset",   "grid_x",     "grid_y",         "none"};
  return kNames[static_cast<size_t>(expression)];
}

}  // namespace brink
