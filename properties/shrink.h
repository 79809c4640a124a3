#pragma once

#include <cstdint>
#include <string>

#include "properties/examine.h"

namespace brink {

/// What shrinking came to.
struct Shrunk {
  Examination smallest;  ///< the last that was run and failed in the same way
  std::string cause;     ///< what was kept, as cause_of()
  int runs = 0;          ///< cases that were run
};

inline constexpr int kMaxShrinkRuns = 200;

/// Looks for the simplest case (simplicity.h) that fails as `failing` does: same operation, implementation and cause.
/// `failing` must be a finding in this role. On the host, cases with columns of more than 2^17 elements come last, as
/// each run of one takes seconds.
///
/// Where the failure came as predicted, the search asks the oracle, which costs microseconds, and only its answers are
/// run, the simplest first, until one fails in the same way: a handful of runs, even where each ends a worker process.
/// Elsewhere every step is a run. The result is the same each time, and where the oracle is right it is the same for
/// each failing case of one cause.
Shrunk shrink(Examiner& examiner, const Examination& failing, Role role, int max_runs = kMaxShrinkRuns);

}  // namespace brink
