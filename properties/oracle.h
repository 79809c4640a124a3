#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/softmax/implementation.h"
#include "properties/case.h"
#include "properties/outcome.h"

namespace brink {

/// The oracle's answer, given before launch.
struct Prediction : Outcome {
  /// Values that a contended element may hold, as bits; filled by the traced engine only (see candidate_values).
  std::map<int64_t, std::vector<uint64_t>> contended_values;
  /// Elements of iterations before and after a loop counter wraps: where to look for what the sets only bound.
  std::vector<int64_t> hints;
};

/// kSymbolic reasons about whole intervals, in time that does not grow with the tensor. kTraced runs the kernel itself
/// with tracing integers, thread by thread: always exact, for narrow index types and small tensors.
/// kAuto takes the symbolic answer where it is exact, and the traced one where that is possible.
enum class Engine { kAuto, kSymbolic, kTraced };

/// Predicts a valid case. `occupancy` is the device that it is for.
Prediction predict(const Case& c, OccupancyQuery& occupancy, Engine engine = Engine::kAuto);

/// What predict() works on once the launch is known. Internal to the oracle and its parts.
struct Launching {
  Decomposition shape;
  Operation operation;
  DType dtype;
  ClosedForm form;
  MemoryKind memory;
  Dispatch dispatch;
};

/// The iteration space that a fixed-width kernel really runs through. Sizes are those that the kernel sees after
/// narrowing; iteration number `l` of 0 .. numel() - 1 touches address wrap(l).
struct IterationSpace {
  Decomposition narrowed;  ///< all 0 where nothing is executed
  Exact modulus = 0;       ///< 2^bits
  Exact limit = 0;         ///< largest value + 1
  int64_t wrap(int64_t l) const;
};

IterationSpace iteration_space(const Launching& launching);

/// Values that element `n` may hold where it is contended, one per writer. Empty where it has more than `max_writers`
/// or their columns are longer than `max_column`.
std::vector<uint64_t> candidate_values(const Launching& launching, int64_t n, int max_writers, int64_t max_column);

/// The engines behind predict().
void predict_symbolic(const Launching& launching, Prediction& prediction);
/// Whether the traced engine can take this launch: narrow index type, at most 2^17 elements.
bool can_trace(const Launching& launching);
void predict_traced(const Launching& launching, Prediction& prediction);

}  // namespace brink
