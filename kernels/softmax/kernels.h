#pragma once

#include "kernels/softmax/barrier.h"
#include "kernels/softmax/last_dim_address.h"
#include "kernels/softmax/launch.h"
#include "kernels/softmax/operations.h"
#include "kernels/softmax/spatial_address.h"

// The kernels. `Thread` is one thread's view of a launch (execution/host_thread.h, execution/cuda/): its indices, a
// barrier, shuffles and shared memory; its loop guards are empty on a GPU and let the host stop a loop that never ends.
// `I` is the index type.

namespace brink {

namespace detail {

// Joins the values of block.x threads that share block row thread_y, through shared memory. block.x is a power of two.
template <class Thread, class Acc, class Combine>
BRINK_HOST_DEVICE Acc reduce_over_x(Thread& thread, Acc value, Combine combine) {
  Acc* row = thread.template shared<Acc>() + static_cast<int64_t>(thread.thread_y()) * thread.block_x();
  const int x = thread.thread_x();
  row[x] = value;
  thread.sync(Barrier::kValuesStored);
  for (int half = thread.block_x() / 2; half > 0; half /= 2) {
    if (x < half) row[x] = combine(row[x], row[x + half]);
    thread.sync(Barrier::kHalved);
  }
  value = row[0];
  thread.sync(Barrier::kResultRead);
  return value;
}

template <class Thread, class Acc, class Combine>
BRINK_HOST_DEVICE Acc reduce_over_lanes(Thread& thread, Acc value, Combine combine) {
  for (int mask = thread.block_x() / 2; mask > 0; mask /= 2) value = combine(value, thread.shuffle_xor(value, mask));
  return value;
}

}  // namespace detail

/// Spatial: block.y and grid.y walk the columns of an outer slice, grid.x the outer slices; block.x threads share each
/// column (kReduce) or one thread has it alone (kColumns). Every thread of a block takes part in every barrier.
template <Operation kOperation, bool kReduce, class I, class Memory, class Thread>
BRINK_HOST_DEVICE void spatial_kernel(Thread& thread, const Memory& memory, const Decomposition& shape) {
  using Acc = typename Memory::Acc;
  const SpatialAddress<I> address(shape);
  const I outer_step = named<I>(Expression::kGridX, thread.grid_x());
  const I inner_step = named<I>(Expression::kGridY, thread.grid_y() * thread.block_y());
  const I dim_step = named<I>(Expression::kDimNext, thread.block_x());
  auto outer_guard = thread.loop_guard();
  for (I outer = named<I>(Expression::kGridX, thread.block_index_x()); less(outer, address.outer_size);
       outer = address.outer_next(outer, outer_step), outer_guard.tick()) {
    const I base = address.outer_base(outer);
    auto inner_guard = thread.loop_guard();
    for (I first = address.inner_start(thread.block_index_y(), thread.block_y()); less(first, address.inner_size);
         first = address.inner_next(first, inner_step), inner_guard.tick()) {
      const I inner = address.inner_round_up(first, thread.thread_y());
      const bool active = less(inner, address.inner_size);
      const I column = address.column_offset(base, inner);
      const auto visit = [&](auto f) {
        if (!active) return;
        auto dim_guard = thread.loop_guard();
        for (I d = named<I>(Expression::kDimNext, thread.thread_x()); less(d, address.dim_size);
             d = address.dim_next(d, dim_step), dim_guard.tick()) {
          f(Count<1>(), address.element_offset(column, d));
        }
      };
      const auto reduce = [&](Acc value, auto combine) {
        if constexpr (kReduce) return detail::reduce_over_x(thread, value, combine);
        return value;
      };
      run_column<kOperation>(memory, visit, reduce);
    }
  }
}

/// Last axis, one block per row: a head up to the first 16-byte boundary, whole vectors, a tail.
template <Operation kOperation, class I, class Memory, class Thread>
BRINK_HOST_DEVICE void row_block_kernel(Thread& thread, const Memory& memory, const Decomposition& shape) {
  using Acc = typename Memory::Acc;
  constexpr int kVector = Memory::kVector;
  const LastDimAddress<I, kVector> address(shape);
  const I row_step = named<I>(Expression::kGridX, thread.grid_x());
  const I block = named<I>(Expression::kVectorNext, thread.block_x());
  auto row_guard = thread.loop_guard();
  for (I row = address.row_start(thread.block_index_x(), 1, 0); less(row, address.outer_size);
       row = address.row_next(row, row_step), row_guard.tick()) {
    const I base = address.row_base(row);
    const int shift = memory.misalignment(base);
    const I shifted = address.shifted_size(shift);
    const I vectors = named<I>(Expression::kVectorOffset, divide_by<kVector>(shifted));
    const auto visit = [&](auto f) {
      if (shift > 0) {
        for (int p = shift + thread.thread_x(); p < kVector; p += thread.block_x()) {
          const I position = named<I>(Expression::kTailNext, p);
          if (less(position, shifted)) f(Count<1>(), address.element_offset(base, position, shift));
        }
      }
      auto vector_guard = thread.loop_guard();
      for (I vector = named<I>(Expression::kVectorNext, thread.thread_x() + (shift > 0 ? 1 : 0)); less(vector, vectors);
           vector = address.vector_next(vector, block), vector_guard.tick()) {
        f(Count<kVector>(), address.element_offset(base, address.vector_offset(vector), shift));
      }
      // A row that ends inside its first vector was all head.
      const I whole =
          shift > 0 && !less(0, vectors) ? named<I>(Expression::kTailNext, kVector) : address.vector_offset(vectors);
      auto tail_guard = thread.loop_guard();
      for (I position = named<I>(Expression::kTailNext, add(whole, thread.thread_x())); less(position, shifted);
           position = address.tail_next(position, block), tail_guard.tick()) {
        f(Count<1>(), address.element_offset(base, position, shift));
      }
    };
    const auto reduce = [&](Acc value, auto combine) { return detail::reduce_over_x(thread, value, combine); };
    run_column<kOperation>(memory, visit, reduce);
  }
}

/// Last axis, short rows: block.x lanes of a warp per row, block.y rows per block.
template <Operation kOperation, class I, class Memory, class Thread>
BRINK_HOST_DEVICE void row_warp_kernel(Thread& thread, const Memory& memory, const Decomposition& shape) {
  using Acc = typename Memory::Acc;
  const LastDimAddress<I, Memory::kVector> address(shape);
  const I row_step = named<I>(Expression::kGridX, thread.grid_x() * thread.block_y());
  const I lanes = named<I>(Expression::kLaneNext, thread.block_x());
  auto row_guard = thread.loop_guard();
  for (I row = address.row_start(thread.block_index_x(), thread.block_y(), thread.thread_y());
       less(row, address.outer_size); row = address.row_next(row, row_step), row_guard.tick()) {
    const I base = address.row_base(row);
    const auto visit = [&](auto f) {
      auto lane_guard = thread.loop_guard();
      for (I position = named<I>(Expression::kLaneNext, thread.thread_x()); less(position, address.dim_size);
           position = address.lane_next(position, lanes), lane_guard.tick()) {
        f(Count<1>(), address.element_offset(base, position, 0));
      }
    };
    const auto reduce = [&](Acc value, auto combine) { return detail::reduce_over_lanes(thread, value, combine); };
    run_column<kOperation>(memory, visit, reduce);
  }
}

/// The kernel of a variant.
template <Operation kOperation, Variant kVariant, class I, class Memory, class Thread>
BRINK_HOST_DEVICE void run_kernel(Thread& thread, const Memory& memory, const Decomposition& shape) {
  if constexpr (kVariant == Variant::kWarp) {
    row_warp_kernel<kOperation, I>(thread, memory, shape);
  } else if constexpr (kVariant == Variant::kBlock) {
    row_block_kernel<kOperation, I>(thread, memory, shape);
  } else {
    spatial_kernel<kOperation, kVariant == Variant::kReduce, I>(thread, memory, shape);
  }
}

}  // namespace brink
