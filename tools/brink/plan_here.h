#pragma once

#include <string>

#include "properties/plan.h"

namespace brink {

/// Memory that a plan gives each case unless told otherwise: 200 MiB.
inline constexpr int64_t kDefaultPlanMemory = int64_t{200} << 20;

/// Largest plan file that is read, in bytes.
inline constexpr size_t kPlanFileMax = size_t{64} << 20;

struct PlanHere {
  Plan plan;
  std::string sized_for;  ///< the device that launches were sized for, in words
};

/// A plan for the device of this machine or, where there is no GPU, for the model of one.
PlanHere plan_here(const PlanLimits& limits);

}  // namespace brink
