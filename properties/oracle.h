#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/softmax/implementation.h"
#include "properties/case.h"
#include "properties/column_value.h"
#include "properties/outcome.h"

namespace brink {

/// The oracle's answer, given before launch.
struct Prediction : Outcome {
  /// Values that a contended element may hold, as bits; filled by the traced engine only (see WriterValues).
  std::map<int64_t, std::vector<uint64_t>> contended_values;
  /// Elements of iterations before and after a loop counter wraps: where to look for what the sets only bound.
  std::vector<int64_t> hints;
};

/// What the prediction says will be launched; nothing where it names no launch.
std::optional<Dispatch> planned_launch(const Prediction& prediction);

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

/// What the writers of contended elements would write. Works out each writer's column once.
class WriterValues {
 public:
  /// Elements with more than `max_writers`, or with columns longer than `max_column`, are not worked out. `input` is
  /// what the writers read, where memory does not hold all of the form's inputs.
  WriterValues(const Launching& launching, int max_writers, int64_t max_column, InputValue input = {})
      : launching_(launching),
        space_(iteration_space(launching)),
        max_writers_(max_writers),
        max_column_(max_column),
        input_(std::move(input)) {}

  /// The bits that element `n` may hold, one per writer; empty where they are not worked out.
  std::vector<uint64_t> of(int64_t n);

 private:
  const Launching& launching_;
  IterationSpace space_;
  int max_writers_;
  int64_t max_column_;
  InputValue input_;
  std::map<std::pair<int64_t, int64_t>, std::vector<uint64_t>> columns_;  ///< by outer and inner
};

/// The engines behind predict().
void predict_symbolic(const Launching& launching, Prediction& prediction);
/// Whether the traced engine can take this launch: narrow index type, at most 2^17 elements.
bool can_trace(const Launching& launching);
void predict_traced(const Launching& launching, Prediction& prediction);

}  // namespace brink
