#pragma once

#include "kernels/softmax/implementation.h"
#include "kernels/softmax/launch.h"

// Launch helpers that are wrong where a block does not fit. All three go back to pytorch#188031
// (https://github.com/pytorch/pytorch/pull/188031): its 64-bit kernel takes more registers than the 32-bit one, so that
// a block of 1,024 threads may not fit (more than 65,536 / 1,024 = 64 registers a thread). The repaired helper asks
// again and again, halving block.y, then block.x, with threads and shared memory worked out anew.

namespace brink {

/// Replica of the helper before the repair: one query, of which only the error code counts. On gfx950 the query for a
/// block that is too large succeeds and answers 0 blocks; the grid is then 0 blocks wide, and its other dimension a
/// division by that 0 (here: 0).
LaunchPlan ask_once(const LaunchRequest& request, OccupancyQuery& occupancy);

/// Half of the repair: when block.y is 1 it gives up, though block.x is up to 512 there (dim_size >= 512, inner_size 2:
/// 512 x 2 threads).
LaunchPlan shrink_y_only(const LaunchRequest& request, OccupancyQuery& occupancy);

/// Half of the repair: the shared memory stays that of the first block (1,024 threads x 8 bytes, f64), so that it never
/// fits where it is what does not.
LaunchPlan stale_shared(const LaunchRequest& request, OccupancyQuery& occupancy);

/// Sizes a launch as `helper` does.
LaunchPlan plan_launch_with(LaunchHelper helper, const LaunchRequest& request, OccupancyQuery& occupancy);

}  // namespace brink
