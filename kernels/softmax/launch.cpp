#include "kernels/softmax/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/index/checked.h"

namespace brink {

namespace {

constexpr int64_t kQueryThreadsMax = std::numeric_limits<int>::max();

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

// Why a device with these limits does not take a block of this size, whatever is resident.
std::string block_refusal(const Launch& launch, const DeviceLimits& device, const KernelAttributes& attributes) {
  const int64_t threads = launch.threads();
  const int64_t most = std::min({device.threads, attributes.max_threads, kQueryThreadsMax});
  if (threads > most) return fmt::format("{} threads are more than a block of it may have, {}", threads, most);
  // A negative amount of the kernel's own makes no sense, and no room.
  const auto shared = checked_add(launch.shared_bytes, std::max<int64_t>(attributes.static_shared_bytes, 0));
  if (!shared || *shared > device.shared_bytes) {
    return fmt::format("{} bytes of shared memory and {} of the kernel's own are more than a block may have, {}",
                       launch.shared_bytes, attributes.static_shared_bytes, device.shared_bytes);
  }
  return "";
}

std::string grid_refusal(const Launch& launch, const DeviceLimits& device) {
  const bool fits = launch.grid_x >= 1 && launch.grid_x <= std::min(device.grid_x, kDimensionMax) &&
                    launch.grid_y >= 1 && launch.grid_y <= std::min(device.grid_y, kDimensionMax);
  // z is always 1.
  if (fits && device.grid_z >= 1) return "";
  return fmt::format("a grid of {} x {} x 1 blocks is outside 1 .. {} x {} x {}", launch.grid_x, launch.grid_y,
                     device.grid_x, device.grid_y, device.grid_z);
}

std::string residence_refusal(const Occupancy& answer) {
  if (!answer.error.empty()) return answer.error;
  return answer.resident_blocks >= 1
             ? ""
             : fmt::format("the query succeeds and answers {} resident blocks", answer.resident_blocks);
}

}  // namespace

std::string_view name_of(LaunchForm form) {
  switch (form) {
    case LaunchForm::kResident:
      return "resident";
    case LaunchForm::kReducedY:
      return "reduced_y";
    case LaunchForm::kReducedX:
      return "reduced_x";
    case LaunchForm::kRejected:
      break;
  }
  return "rejected";
}

std::string_view name_of(Decision decision) {
  switch (decision) {
    case Decision::kAccept:
      return "accept";
    case Decision::kShrinkY:
      return "shrink_y";
    case Decision::kShrinkX:
      return "shrink_x";
    case Decision::kReject:
      break;
  }
  return "reject";
}

int64_t shared_bytes_of(const Launch& launch, Variant variant, DType dtype) {
  // One accumulator per thread where threads join their values through shared memory, also where one thread is left.
  const bool shares = variant == Variant::kBlock || variant == Variant::kReduce;
  return shares ? launch.threads() * accumulator_bytes(dtype) : 0;
}

SizedLaunch first_choice(const LaunchRequest& request) {
  const Decomposition& shape = request.shape;
  const KernelLimits& limits = request.limits;
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
    const int64_t vectors = ceil_div(shape.dim_size, vector_size(request.dtype));
    launch.block_x =
        std::clamp(next_power_of_two(std::min(vectors, limits.row_block_max)), limits.warp_size, limits.row_block_max);
  }
  launch.shared_bytes = shared_bytes_of(launch, sized.variant, request.dtype);
  return sized;
}

void size_grid(const LaunchRequest& request, const DeviceLimits& device, int64_t resident, SizedLaunch& sized) {
  const Decomposition& shape = request.shape;
  Launch& launch = sized.launch;
  const int64_t x_max = std::min({request.limits.grid_x_max, device.grid_x, kDimensionMax});
  const int64_t y_max = std::min({request.limits.grid_y_max, device.grid_y, kDimensionMax});
  if (sized.path == Path::kSpatial) {
    launch.grid_y = std::min({ceil_div(shape.inner_size, launch.block_y), std::max<int64_t>(resident, 0), y_max});
    launch.grid_x = launch.grid_y < 1 ? 0 : std::min({ceil_div(resident, launch.grid_y), shape.outer_size, x_max});
  } else {
    launch.grid_x = std::min(ceil_div(shape.outer_size, launch.block_y), x_max);
    launch.grid_y = 1;
  }
}

LaunchPlan begin_plan(const LaunchRequest& request, const SizedLaunch& first, OccupancyQuery& occupancy) {
  LaunchPlan plan;
  plan.kernel = {request.operation, first.variant, request.dtype, request.index_type, request.build};
  plan.device = occupancy.limits();
  if (!plan.device.error.empty()) {
    plan.reason = fmt::format("the device's limits are not known: {}", plan.device.error);
    return plan;
  }
  plan.attributes = occupancy.attributes(plan.kernel);
  if (!plan.attributes.error.empty()) {
    plan.reason = fmt::format("the kernel's attributes are not known: {}", plan.attributes.error);
  }
  return plan;
}

LaunchAttempt try_block(const LaunchRequest& request, const LaunchPlan& plan, SizedLaunch& sized,
                        OccupancyQuery& occupancy) {
  LaunchAttempt attempt;
  // A query takes an int, so threads beyond every limit are not asked about.
  if (sized.launch.threads() <= std::min(plan.device.threads, kQueryThreadsMax)) {
    attempt.answer = occupancy.resident_blocks(plan.kernel, sized.launch.threads(), sized.launch.shared_bytes);
    attempt.refusal = residence_refusal(attempt.answer);
  }
  if (attempt.refusal.empty()) attempt.refusal = block_refusal(sized.launch, plan.device, plan.attributes);
  if (attempt.refusal.empty()) {
    size_grid(request, plan.device, attempt.answer.resident_blocks, sized);
    attempt.refusal = grid_refusal(sized.launch, plan.device);
  }
  attempt.launch = sized.launch;
  return attempt;
}

void reject(const SizedLaunch& sized, LaunchPlan& plan) {
  const LaunchAttempt& last = plan.attempts.back();
  plan.reason =
      fmt::format("no block size of {}/{} is resident on this device; the last, ({}, {}): {}", name_of(sized.path),
                  name_of(sized.variant), last.launch.block_x, last.launch.block_y, last.refusal);
}

LaunchPlan plan_launch(const LaunchRequest& request, OccupancyQuery& occupancy) {
  SizedLaunch sized = first_choice(request);
  Launch& launch = sized.launch;
  LaunchPlan plan = begin_plan(request, sized, occupancy);
  if (!plan.reason.empty()) return plan;
  while (true) {
    launch.shared_bytes = shared_bytes_of(launch, sized.variant, request.dtype);
    LaunchAttempt& attempt = plan.attempts.emplace_back(try_block(request, plan, sized, occupancy));
    if (attempt.refusal.empty()) {
      attempt.decision = Decision::kAccept;
      plan.launch = sized;
      return plan;
    }
    // A warp's lanes over a short row are fixed; everything else may shrink.
    if (launch.block_y > 1) {
      attempt.decision = Decision::kShrinkY;
      sized.form = LaunchForm::kReducedY;
      launch.block_y /= 2;
    } else if (launch.block_x > 1 && sized.variant != Variant::kWarp) {
      attempt.decision = Decision::kShrinkX;
      sized.form = LaunchForm::kReducedX;
      launch.block_x /= 2;
    } else {
      reject(sized, plan);
      return plan;
    }
  }
}

std::variant<SizedLaunch, std::string> size_launch(const Decomposition& shape, Operation operation, DType dtype,
                                                   IndexType index_type, const KernelLimits& limits,
                                                   OccupancyQuery& occupancy) {
  LaunchPlan plan = plan_launch({shape, operation, dtype, index_type, limits}, occupancy);
  if (plan.launch) return *plan.launch;
  return std::move(plan.reason);
}

std::string launch_refusal(const KernelId& kernel, const Launch& launch, OccupancyQuery& occupancy) {
  const DeviceLimits device = occupancy.limits();
  if (!device.error.empty()) return device.error;
  const KernelAttributes attributes = occupancy.attributes(kernel);
  if (!attributes.error.empty()) return attributes.error;
  std::string refusal = grid_refusal(launch, device);
  if (refusal.empty()) refusal = block_refusal(launch, device, attributes);
  if (!refusal.empty()) return refusal;
  return residence_refusal(occupancy.resident_blocks(kernel, launch.threads(), launch.shared_bytes));
}

}  // namespace brink
