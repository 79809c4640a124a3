#include "kernels/softmax/implementation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/index/checked.h"
#include "kernels/replicas/launch_helpers.h"

namespace brink {

namespace {

int64_t saturating_add(int64_t a, int64_t b) { return checked_add(a, b).value_or(std::numeric_limits<int64_t>::max()); }

}  // namespace

std::string Implementation::name() const {
  if (rule == WidthRule::kFixed) {
    const std::string base = fmt::format("{}/{}", name_of(*path), name_of(index_type));
    if (helper != LaunchHelper::kChecked) return fmt::format("{}_{}", base, name_of(helper));
    if (build == Build::kTornBarrier) return base + "_torn_barrier";
    return build == Build::kPressure ? base + "_pressure" : base;
  }
  if (rule == WidthRule::kWorkspace) return "workspace";
  if (rule == WidthRule::kNoLaunch) return "no_launch";
  const std::string_view base = rule == WidthRule::kSafe ? "dispatched" : "numel_rule";
  if (index_type == IndexType::kI32) return std::string(base);
  return fmt::format("{}/{}", base, name_of(index_type));
}

std::vector<Implementation> all_implementations() {
  std::vector<Implementation> result;
  const auto add = [&](bool scaled) {
    for (const WidthRule rule : {WidthRule::kSafe, WidthRule::kNumel}) {
      for (const IndexType type : kIndexTypes) {
        const Implementation implementation{rule, type, std::nullopt};
        if (implementation.scaled() == scaled && type != IndexType::kI64) result.push_back(implementation);
      }
    }
    for (const Path path : {Path::kLastDim, Path::kSpatial}) {
      for (const IndexType type : kIndexTypes) {
        const Implementation implementation{WidthRule::kFixed, type, path};
        if (implementation.scaled() == scaled) result.push_back(implementation);
      }
    }
  };
  add(false);
  add(true);
  result.push_back({WidthRule::kWorkspace, IndexType::kI32, std::nullopt});
  result.push_back({WidthRule::kNoLaunch, IndexType::kI32, std::nullopt});
  constexpr auto kFixed = WidthRule::kFixed;
  constexpr auto kPressure = Build::kPressure;
  for (const IndexType type : {IndexType::kU32, IndexType::kI64}) {
    for (const Path path : {Path::kLastDim, Path::kSpatial}) result.push_back({kFixed, type, path, kPressure});
  }
  for (const LaunchHelper helper : kLaunchHelpers) {
    if (helper == LaunchHelper::kChecked) continue;
    for (const Path path : {Path::kLastDim, Path::kSpatial}) {
      result.push_back({kFixed, IndexType::kI64, path, kPressure, helper});
    }
  }
  result.push_back({kFixed, IndexType::kI64, Path::kSpatial, Build::kTornBarrier});
  return result;
}

std::optional<Implementation> parse_implementation(std::string_view name) {
  for (const Implementation& implementation : all_implementations()) {
    if (implementation.name() == name) return implementation;
  }
  return std::nullopt;
}

int64_t largest_index_value(const Decomposition& shape, const SizedLaunch& sized, DType dtype) {
  const Launch& launch = sized.launch;
  // Loop counters end up to one step past the last value that they take.
  const auto past = [](int64_t size, int64_t step) { return saturating_add(size - 1, step); };
  int64_t result = shape.numel();
  const auto consider = [&](int64_t value) { result = std::max(result, value); };
  switch (sized.variant) {
    case Variant::kColumns:
    case Variant::kReduce:
      consider(past(shape.outer_size, launch.grid_x));
      consider(past(shape.inner_size, launch.grid_y * launch.block_y));
      consider(past(shape.dim_size, launch.block_x));
      break;
    case Variant::kBlock: {
      const int64_t shifted = saturating_add(shape.dim_size, vector_size(dtype) - 1);
      consider(past(shape.outer_size, launch.grid_x));
      consider(past(shifted, launch.block_x));
      break;
    }
    case Variant::kWarp:
      // The last block's threads start up to block.y - 1 rows past the end.
      consider(past(shape.outer_size, launch.grid_x * launch.block_y));
      consider(saturating_add(shape.outer_size, launch.block_y));
      consider(past(shape.dim_size, launch.block_x));
      break;
  }
  return result;
}

KernelId kernel_of(const Implementation& implementation, Operation operation, DType dtype, const Dispatch& dispatch) {
  return {operation, dispatch.sized.variant, dtype, dispatch.index_type, implementation.build};
}

LaunchRequest launch_request(const Implementation& implementation, const Decomposition& shape, Operation operation,
                             DType dtype, IndexType index_type) {
  return {shape, operation, dtype, index_type, implementation.kernel_limits(), implementation.build};
}

std::variant<Dispatch, NoDispatch> dispatch(const Implementation& implementation, const Decomposition& shape,
                                            Operation operation, DType dtype, OccupancyQuery& occupancy) {
  if (implementation.path && *implementation.path != path_of(shape)) {
    return NoDispatch{true, fmt::format("inner_size {} selects path {}, {} implements path {}", shape.inner_size,
                                        name_of(path_of(shape)), implementation.name(), name_of(*implementation.path))};
  }
  const int64_t max = limits_of(implementation.index_type).max;
  const auto size_for = [&](IndexType type) {
    return plan_launch_with(implementation.helper, launch_request(implementation, shape, operation, dtype, type),
                            occupancy);
  };
  // Forward and backward must decide alike, so both launches count.
  const auto fits = [&](const SizedLaunch& launch) {
    if (largest_index_value(shape, launch, dtype) > max) return false;
    auto other = size_launch(shape, counterpart(operation), dtype, implementation.index_type,
                             implementation.kernel_limits(), occupancy);
    const auto* counterpart_launch = std::get_if<SizedLaunch>(&other);
    return counterpart_launch != nullptr && largest_index_value(shape, *counterpart_launch, dtype) <= max;
  };
  const bool safe = implementation.chooses_safely();
  const bool try_narrow = implementation.rule != WidthRule::kNumel || shape.numel() < max;
  if (try_narrow) {
    const LaunchPlan plan = size_for(implementation.index_type);
    if (plan.launch) {
      if (!safe || fits(*plan.launch)) return Dispatch{implementation.index_type, *plan.launch};
    } else if (!safe) {
      return NoDispatch{false, plan.reason};
    }
  }
  const LaunchPlan plan = size_for(IndexType::kI64);
  if (plan.launch) return Dispatch{IndexType::kI64, *plan.launch};
  return NoDispatch{false, plan.reason};
}

}  // namespace brink
