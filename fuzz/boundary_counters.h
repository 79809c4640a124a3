#pragma once

#include <cstddef>
#include <vector>

#include "properties/cell.h"
#include "properties/examine.h"

// Coverage of address arithmetic for libFuzzer. Edges of host code cannot tell an offset of 2^32 - 1 from one of 2^32,
// and do not see device code at all; these counters do. libFuzzer reads them (its "extra counters") after each run and
// keeps an input that sets a new one.

namespace brink {

/// Counters in all. One is set for each expression of a launch and each of its boundaries, by variant, direction, index
/// type and the distance between the two; and one for each cell that was reached.
inline constexpr size_t kBoundaryCounters = size_t{1} << 17;

/// Far below a boundary, the distance counts in powers of four of the value; elsewhere in powers of four of the
/// difference: its own bucket each for 1 below, at, and 1 above.
size_t distance_bucket(Exact value, Boundary boundary);

/// The counters of what a valid, non-empty case launches: for each expression and boundary the bucket of the distance
/// between them. Sorted; all below kBoundaryCounters.
std::vector<size_t> distance_counters(const Case& c, const Decomposition& shape, const Dispatch& launched);

/// The counters of cells that were reached. Sorted; all below kBoundaryCounters.
std::vector<size_t> cell_counters(const std::vector<Cell>& cells);

/// The counters of an examined case: the distances of what it launched or was predicted to launch, and the cells that
/// it reached. None where it was not executed. Sorted.
std::vector<size_t> counters_of(const Examination& examination);

/// The counters of a valid case that was predicted: the distances of what it will launch, and the cells that this will
/// reach. None where nothing is launched.
std::vector<size_t> planned_counters(const Case& c, const Prediction& prediction);

/// Sets counters for libFuzzer, which clears them before each run.
void set_counters(const std::vector<size_t>& counters);

/// Sets a counter that every input has: without instrumentation libFuzzer gives up where the first input sets none.
void count_input();

}  // namespace brink
