#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/execution/host_block.h"
#include "kernels/execution/host_memory.h"
#include "kernels/index/checked.h"
#include "kernels/softmax/kernels.h"

namespace brink {

/// Index of one block of a grid.
struct BlockIndex {
  int64_t x = 0;
  int64_t y = 0;
  auto operator<=>(const BlockIndex&) const = default;
};

/// A block, or, of a kernel without barriers, some rows of its threads: thread_y from first_y to last_y.
struct BlockPart {
  BlockIndex block;
  int64_t first_y = 0;
  int64_t last_y = 0;
  auto operator<=>(const BlockPart&) const = default;
};

/// Runs a kernel of this project on the host: every block of the launch, or only `parts` where it is not null. A loop
/// that takes more than `loop_limit` iterations ends the run as a hang. Where the threads of a block disagree about a
/// barrier, `divergence` says which.
BlockEnd run_on_host(const KernelId& kernel, const Decomposition& shape, const Launch& launch,
                     const std::vector<BlockPart>* parts, int64_t loop_limit, HostTensors& tensors,
                     BarrierDivergence* divergence = nullptr);

/// Iterations after which a loop of this launch counts as one that never ends: more than any takes whose counter does
/// not wrap. For an 8-bit counter that is as many as it has values, so such a loop really never ends; for a wider one
/// it may end at last, having gone around the index type in small steps.
inline int64_t loop_limit(const Decomposition& shape, const Launch& launch, IndexType index_type) {
  const int bits = limits_of(index_type).bits;
  if (bits == 8) return 256;
  const int64_t longest = std::max({ceil_div(shape.outer_size, launch.grid_x), ceil_div(shape.dim_size, launch.block_x),
                                    ceil_div(shape.inner_size, launch.grid_y * launch.block_y)});
  return longest <= INT64_MAX / 8 ? 4 * longest + (bits == 16 ? 256 : 4096) : INT64_MAX;
}

/// Whether the threads of a block of this variant wait for each other.
constexpr bool has_barriers(Variant variant) { return variant != Variant::kColumns; }

/// Runs `kernel(thread)` for a part of a launch on `block`: all of its threads together where they have barriers, else
/// its rows of threads in turn.
template <class Kernel>
BlockEnd run_part(HostBlock& block, const Launch& launch, Variant variant, int64_t loop_limit, const BlockPart& part,
                  const Kernel& kernel) {
  const BlockIndex& at = part.block;
  return has_barriers(variant) ? block.run_together(launch, loop_limit, at.x, at.y, kernel)
                               : block.run_in_turn(launch, loop_limit, at.x, at.y, part.first_y, part.last_y, kernel);
}

/// Calls `run(part)` for every block of `launch`, or for `parts` alone, until one does not complete.
template <class Run>
BlockEnd for_each_block(const Launch& launch, const std::vector<BlockPart>* parts, const Run& run) {
  if (parts != nullptr) {
    for (const BlockPart& part : *parts) {
      if (const BlockEnd end = run(part); end != BlockEnd::kCompleted) return end;
    }
    return BlockEnd::kCompleted;
  }
  for (int64_t y = 0; y < launch.grid_y; ++y) {
    for (int64_t x = 0; x < launch.grid_x; ++x) {
      if (const BlockEnd end = run({{x, y}, 0, launch.block_y - 1}); end != BlockEnd::kCompleted) return end;
    }
  }
  return BlockEnd::kCompleted;
}

/// Calls `f` with an Operation constant.
template <class F>
decltype(auto) with_operation(Operation operation, F&& f) {
  switch (operation) {
    case Operation::kSoftmaxForward:
      return f(std::integral_constant<Operation, Operation::kSoftmaxForward>());
    case Operation::kSoftmaxBackward:
      return f(std::integral_constant<Operation, Operation::kSoftmaxBackward>());
    case Operation::kLogSoftmaxForward:
      return f(std::integral_constant<Operation, Operation::kLogSoftmaxForward>());
    case Operation::kLogSoftmaxBackward:
      break;
  }
  return f(std::integral_constant<Operation, Operation::kLogSoftmaxBackward>());
}

/// Calls `f` with a Variant constant.
template <class F>
decltype(auto) with_variant(Variant variant, F&& f) {
  switch (variant) {
    case Variant::kWarp:
      return f(std::integral_constant<Variant, Variant::kWarp>());
    case Variant::kBlock:
      return f(std::integral_constant<Variant, Variant::kBlock>());
    case Variant::kColumns:
      return f(std::integral_constant<Variant, Variant::kColumns>());
    case Variant::kReduce:
      break;
  }
  return f(std::integral_constant<Variant, Variant::kReduce>());
}

}  // namespace brink
