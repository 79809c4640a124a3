#include "fuzz/launch_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace brink {

// By byte: largest number of threads of a block (two kernels' worth, as forward and backward differ), shared memory of
// a block in KiB, multiprocessors, blocks of each at most, threads of each in 64s, every how manieth query fails, and
// what gives the answer 0 without an error.
BytesOccupancy::BytesOccupancy(std::span<const uint8_t> bytes) {
  std::copy_n(bytes.begin(), std::min(bytes.size(), kBytes), bytes_.begin());
}

Occupancy BytesOccupancy::resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) {
  const auto at = [&](size_t i) { return static_cast<int64_t>(bytes_[i]); };
  const int64_t threads_max = 4 * (is_forward(kernel.operation) ? at(0) : at(1)) + 1;
  const int64_t multiprocessors = at(3) + 1;
  const auto question = threads + shared_bytes / 4 + static_cast<int64_t>(kernel.index_type);
  if (at(6) > 0 && question % (at(6) + 1) == 0) return {"the query fails", 0};
  if (threads > threads_max) return at(7) % 2 == 0 ? Occupancy{"too many threads", 0} : Occupancy{"", 0};
  if (shared_bytes > 1024 * at(2)) return {"", 0};
  return {"", multiprocessors * std::min(at(4) + 1, std::max<int64_t>(1, 64 * at(5) / threads))};
}

std::string launch_problem(const Case& c, OccupancyQuery& occupancy) {
  if (c.implementation.helper != LaunchHelper::kChecked) return "";
  const auto shape = std::get<Decomposition>(decompose(c));
  const auto sized_for = [&](Operation operation) {
    return dispatch(c.implementation, shape, operation, c.dtype, occupancy);
  };
  const auto decision = sized_for(c.operation);
  const auto* dispatched = std::get_if<Dispatch>(&decision);
  if (dispatched == nullptr) {
    const auto& none = std::get<NoDispatch>(decision);
    if (none.reason.empty()) return "no launch, and no reason";
    const bool other_path = c.implementation.path && *c.implementation.path != path_of(shape);
    if (none.wrong_path != other_path) return "the reason is a path, and the path is right, or the other way round";
    FixedOccupancy takes_all(1);
    const auto elsewhere = dispatch(c.implementation, shape, c.operation, c.dtype, takes_all);
    if (!other_path && !std::holds_alternative<Dispatch>(elsewhere)) return "not even a device that takes all blocks";
    return "";
  }
  const KernelLimits limits = c.implementation.kernel_limits();
  const SizedLaunch& sized = dispatched->sized;
  const Launch& launch = sized.launch;
  if (sized.path != path_of(shape)) return "not the shape's path";
  const bool row = sized.variant == Variant::kWarp || sized.variant == Variant::kBlock;
  if (row != (sized.path == Path::kLastDim)) return fmt::format("{} is of another path", name_of(sized.variant));
  if (std::min({launch.block_x, launch.block_y, launch.grid_x, launch.grid_y}) < 1) return "a dimension below 1";
  if (launch.threads() > std::max(limits.spatial_block_max, limits.row_block_max)) return "too many threads";
  if (launch.grid_x > limits.grid_x_max || launch.grid_y > limits.grid_y_max) return "a grid beyond its limit";
  if (launch.shared_bytes < 0) return "negative shared memory";
  const Occupancy answer = occupancy.resident_blocks(kernel_of(c.implementation, c.operation, c.dtype, *dispatched),
                                                     launch.threads(), launch.shared_bytes);
  if (!answer.error.empty() || answer.resident_blocks < 1) return "the device refuses the block that was chosen";
  if (c.implementation.chooses_safely() && dispatched->index_type != IndexType::kI64) {
    const int64_t largest = largest_index_value(shape, sized, c.dtype);
    if (largest > limits_of(dispatched->index_type).max) {
      return fmt::format("{} cannot hold {}", name_of(dispatched->index_type), largest);
    }
  }
  const auto other = sized_for(counterpart(c.operation));
  const auto* counterpart_launch = std::get_if<Dispatch>(&other);
  if (c.implementation.chooses_safely() && counterpart_launch != nullptr &&
      counterpart_launch->index_type != dispatched->index_type) {
    return "forward and backward choose different index types";
  }
  return "";
}

}  // namespace brink
