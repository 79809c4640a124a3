#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/index/index_type.h"
#include "kernels/softmax/launch.h"

namespace brink {

/// How an implementation picks its index type.
enum class WidthRule {
  kFixed,      ///< always `index_type`
  kSafe,       ///< `index_type` where every address expression, loop step and round-up fits in it, else i64
  kNumel,      ///< replica of PyTorch's canUse32BitIndexMath: `index_type` where numel < its largest value, else i64
  kWorkspace,  ///< replica: as kSafe, after taking memory in proportion to the tensor; see replicas/workspace.h
  kNoLaunch,   ///< replica: as kSafe, but nothing is launched; see replicas/no_launch.h
};

/// Who sizes the launches of an implementation: launch sizing, or a replica of a helper that gets it wrong
/// (kernels/replicas/launch_helpers.h).
enum class LaunchHelper {
  kChecked,      ///< plan_launch()
  kAskOnce,      ///< asks once and trusts the error code
  kShrinkYOnly,  ///< gives up when block.y is 1
  kStaleShared,  ///< does not work out the shared memory anew when a block shrinks
};

inline constexpr LaunchHelper kLaunchHelpers[] = {LaunchHelper::kChecked, LaunchHelper::kAskOnce,
                                                  LaunchHelper::kShrinkYOnly, LaunchHelper::kStaleShared};

constexpr std::string_view name_of(LaunchHelper helper) {
  switch (helper) {
    case LaunchHelper::kChecked:
      return "checked";
    case LaunchHelper::kAskOnce:
      return "ask_once";
    case LaunchHelper::kShrinkYOnly:
      return "shrink_y_only";
    case LaunchHelper::kStaleShared:
      break;
  }
  return "stale_shared";
}

/// One way to do an operation. Names: `dispatched`, `numel_rule`, `spatial/u32`, `last_dim/i64`, `workspace`,
/// `no_launch`, ...; a scale model has its index type behind the name: `dispatched/i8`, `numel_rule/u16`. A fixed-width
/// kernel that is short of registers has that, or the replica that sizes its launches, behind its own:
/// `spatial/i64_pressure`, `spatial/i64_ask_once`.
struct Implementation {
  WidthRule rule = WidthRule::kSafe;
  IndexType index_type = IndexType::kI32;
  std::optional<Path> path;  ///< the only path that a fixed-width kernel implements
  Build build = Build::kPlain;
  LaunchHelper helper = LaunchHelper::kChecked;

  std::string name() const;
  /// Whether this is a scale model: narrow indices, and launches of the same proportions.
  bool scaled() const { return limits_of(index_type).bits < 32; }
  /// Whether the index type fits every address expression by construction.
  bool chooses_safely() const { return rule != WidthRule::kFixed && rule != WidthRule::kNumel; }
  KernelLimits kernel_limits() const { return scaled() ? KernelLimits::scaled() : KernelLimits::real(); }
  bool operator==(const Implementation&) const = default;
};

std::optional<Implementation> parse_implementation(std::string_view name);

/// Every implementation: the true-width ones first, then their scale models, then those that only --impl selects.
std::vector<Implementation> all_implementations();

/// What is to be launched where an implementation takes this index type.
LaunchRequest launch_request(const Implementation& implementation, const Decomposition& shape, Operation operation,
                             DType dtype, IndexType index_type);

/// What an implementation does with a shape: index type, variant and launch.
struct Dispatch {
  IndexType index_type = IndexType::kI64;
  SizedLaunch sized;
};

/// The compiled kernel that is dispatched.
KernelId kernel_of(const Implementation& implementation, Operation operation, DType dtype, const Dispatch& dispatch);

/// A shape that the implementation does not take (its path is another), or a launch that the device refuses.
struct NoDispatch {
  bool wrong_path = false;
  std::string reason;
};

/// Decides index type and launch for a non-empty shape.
std::variant<Dispatch, NoDispatch> dispatch(const Implementation& implementation, const Decomposition& shape,
                                            Operation operation, DType dtype, OccupancyQuery& occupancy);

/// The largest value that any address expression, loop step or round-up of this launch takes, in exact arithmetic.
/// Saturates at int64_t's maximum.
int64_t largest_index_value(const Decomposition& shape, const SizedLaunch& sized, DType dtype);

}  // namespace brink
