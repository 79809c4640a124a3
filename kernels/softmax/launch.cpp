#include "kernels/softmax/launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/index/checked.h"

namespace brink {

namespace {

int64_t next_power_of_two(int64_t n) {
  int64_t result = 1;
  while (result < n) result *= 2;
  return result;
}

int64_t accumulator_bytes(DType dtype) { return dtype == DType::kF64 ? 8 : 4; }

// Threads over columns first; where a block has columns to spare, threads over the reduced dimension too.
void choose_spatial_block(const Decomposition& shape, const KernelLimits& limits, Launch& launch) {
  launch.block_y = std::min(shape.inner_size, limits.spatial_block_max);
  launch.block_x = 1;
  if (shape.inner_size > limits.reduce_inner_max || shape.dim_size < limits.reduce_dim_min) return;
  while (launch.block_x * 2 * launch.block_y <= limits.spatial_block_max && launch.block_x * 2 <= shape.dim_size) {
    launch.block_x *= 2;
  }
}

// One accumulator per thread where threads join their values through shared memory, also where one thread is left.
int64_t shared_bytes_of(const Launch& launch, Variant variant, DType dtype) {
  const bool shares = variant == Variant::kBlock || variant == Variant::kReduce;
  return shares ? launch.threads() * accumulator_bytes(dtype) : 0;
}

}  // namespace

std::variant<SizedLaunch, std::string> size_launch(const Decomposition& shape, Operation operation, DType dtype,
                                                   IndexType index_type, const KernelLimits& limits,
                                                   OccupancyQuery& occupancy) {
  SizedLaunch sized;
  Launch& launch = sized.launch;
  sized.path = path_of(shape);
  if (sized.path == Path::kSpatial) {
    choose_spatial_block(shape, limits, launch);
    sized.variant = launch.block_x > 1 ? Variant::kReduce : Variant::kColumns;
  } else if (shape.dim_size <= limits.warp_dim_max) {
    sized.variant = Variant::kWarp;
    launch.block_x = std::min(next_power_of_two(shape.dim_size), limits.warp_size);
    launch.block_y = 4 * limits.warp_size / launch.block_x;
  } else {
    sized.variant = Variant::kBlock;
    const int64_t vectors = ceil_div(shape.dim_size, vector_size(dtype));
    launch.block_x =
        std::clamp(next_power_of_two(std::min(vectors, limits.row_block_max)), limits.warp_size, limits.row_block_max);
  }
  const KernelId kernel{operation, sized.variant, dtype, index_type};
  Occupancy answer;
  while (true) {
    launch.shared_bytes = shared_bytes_of(launch, sized.variant, dtype);
    answer = occupancy.resident_blocks(kernel, launch.threads(), launch.shared_bytes);
    if (answer.error.empty() && answer.resident_blocks > 0) break;
    // A warp's lanes over a short row are fixed; everything else may shrink.
    if (launch.block_y > 1) {
      launch.block_y /= 2;
    } else if (launch.block_x > 1 && sized.variant != Variant::kWarp) {
      launch.block_x /= 2;
    } else {
      return fmt::format("no block size of {}/{} is resident on this device{}{}", name_of(sized.path),
                         name_of(sized.variant), answer.error.empty() ? "" : ": ", answer.error);
    }
  }
  if (sized.path == Path::kSpatial) {
    launch.grid_y = std::min({ceil_div(shape.inner_size, launch.block_y), answer.resident_blocks, limits.grid_y_max});
    launch.grid_x = std::min({ceil_div(answer.resident_blocks, launch.grid_y), shape.outer_size, limits.grid_x_max});
  } else {
    launch.grid_x = std::min(ceil_div(shape.outer_size, launch.block_y), limits.grid_x_max);
  }
  return sized;
}

}  // namespace brink
