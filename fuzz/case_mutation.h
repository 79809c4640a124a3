#pragma once

#include <memory>
#include <string>
#include <vector>

#include "properties/case.h"
#include "properties/generator.h"

// Mutations that know what a case is: they move a shape across a boundary of one of its expressions, which a change of
// bytes does by accident only.

namespace brink {

/// What a mutated case may be.
struct MutationLimits {
  std::vector<Operation> operations{std::begin(kOperations), std::end(kOperations)};
  std::vector<Implementation> implementations = default_implementations();
  std::vector<DType> dtypes{std::begin(kDTypes), std::end(kDTypes)};
  std::vector<MemoryKind> memories{MemoryKind::kSparse};
  Device device = Device::kHost;
  /// Launch sizing's view of a GPU; null: that of the model sm_90. The host has its own.
  std::shared_ptr<OccupancyQuery> occupancy;
};

/// What the case's implementation launches on the limits' device, or why it launches nothing. `c` must be valid and not
/// empty.
std::variant<Dispatch, NoDispatch> dispatch_within(const Case& c, const MutationLimits& limits);

/// Why a case lies outside the limits (an invalid one, one that its implementation does not take, one that costs the
/// device too much), or an empty string.
std::string refusal_of(const Case& c, const MutationLimits& limits);

/// The case with operation, implementation, dtype and memory replaced where the limits do not have them. The shape
/// stays.
Case confined(const Case& c, const MutationLimits& limits);

/// A case within the limits that differs from `c` in one or a few steps; from a case outside the limits a small one.
/// The same for the same arguments and draws.
Case mutate(const Case& c, Draws& draws, const MutationLimits& limits);

/// A case within the limits made of parts of two.
Case crossover(const Case& a, const Case& b, Draws& draws, const MutationLimits& limits);

}  // namespace brink
