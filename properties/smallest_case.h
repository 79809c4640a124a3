#pragma once

#include <functional>
#include <vector>

#include "properties/case.h"
#include "properties/simplicity.h"

namespace brink {

/// Whether a case fails in the way that is looked for; asked about valid, non-empty cases.
using Fails = std::function<bool(const Case&)>;

/// Cases of `like`'s operation, implementation, closed form and memory that fail, the simplest first; empty where none
/// is found. What is tried depends on those four, and on whether `like` leaves its index type, not on its shape or
/// dtype. All take at most `max_memory` (as memory_of()), and none takes more than an eighth more than the first.
///
/// Scale models with 8-bit indices, and what fails though each of its values fits in its index type (a launch): every
/// shape up to 4 KiB, in the order of memory. Others: all sizes but one come from a list,
/// and the last one is the smallest that fails, or the least odd one in the same memory.
std::vector<Case> smallest_cases(const Case& like, OccupancyQuery& occupancy, Exact max_memory, const Fails& fails);

/// Makes one size after the other as small as still fails, for as long as that helps. Asks `fails` some 30 times for
/// each size, and returns a case that failed (`c`, which is taken to fail, where nothing smaller does).
Case descend(Case c, const Fails& fails);

}  // namespace brink
