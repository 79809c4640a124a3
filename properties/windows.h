#pragma once

#include <vector>

#include "kernels/execution/interval.h"
#include "properties/case.h"
#include "properties/oracle.h"

namespace brink {

/// Output elements to look at in a tensor too large to look at whole: the start, the end, the ends of the first rows,
/// around every boundary of the index type and of 2^31 and 2^32 in elements and in bytes, the places that those wrap
/// to, the edges of what was predicted, and two places drawn from the case's seed. Sorted and disjoint.
std::vector<Interval> choose_windows(const Case& c, const Decomposition& shape, const Prediction& prediction);

/// Elements on each side of a place that is looked at.
inline constexpr int64_t kWindowRadius = 24;

}  // namespace brink
