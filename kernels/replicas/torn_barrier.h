#pragma once

#include "kernels/softmax/kernels.h"

namespace brink {

/// Replica of a spatial kernel with kReduce, the way the kernels around pytorch#188031
/// (https://github.com/pytorch/pytorch/pull/188031) walk their columns: each thread for itself from its own column on,
/// `for (inner = block.y * index + thread_y; inner < inner_size; ...)`, with the barriers of the reduction inside the
/// loop. While a block is as high as inner_size every thread makes one step. Once block.y is halved, threads disagree
/// about the last step wherever inner_size is no multiple of it: 3 columns on blocks of 2 are 2 steps for one thread
/// and 1 for the other, and the barrier of the second step is reached by half of the block.
template <Operation kOperation, class I, class Memory, class Thread>
BRINK_HOST_DEVICE void torn_barrier_kernel(Thread& thread, const Memory& memory, const Decomposition& shape) {
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
    const I first = address.inner_start(thread.block_index_y(), thread.block_y());
    for (I inner = address.inner_round_up(first, thread.thread_y()); less(inner, address.inner_size);
         inner = address.inner_next(inner, inner_step), inner_guard.tick()) {
      const I column = address.column_offset(base, inner);
      const auto visit = [&](auto f) {
        auto dim_guard = thread.loop_guard();
        for (I d = named<I>(Expression::kDimNext, thread.thread_x()); less(d, address.dim_size);
             d = address.dim_next(d, dim_step), dim_guard.tick()) {
          f(Count<1>(), address.element_offset(column, d));
        }
      };
      const auto reduce = [&](Acc value, auto combine) { return detail::reduce_over_x(thread, value, combine); };
      run_column<kOperation>(memory, visit, reduce);
    }
  }
}

/// Whether threads of a block of that kernel disagree: the rows of the last block are not all in the tensor.
inline bool tears_a_barrier(const Decomposition& shape, Variant variant, const Launch& launch) {
  return variant == Variant::kReduce && shape.inner_size % launch.block_y != 0;
}

}  // namespace brink
