#include <fmt/format.h>

#include <algorithm>

#include "properties/comparison.h"
#include "properties/examine.h"
#include "tests/mutants/checks.h"

namespace brink {

namespace {

constexpr int64_t kNumelMax = 560;
constexpr int64_t kAllUpTo = 270;  // of the larger shapes, one of some

std::string overflow_of(const Prediction& p) {
  if (!p.first_overflow) return "none";
  const Overflow& o = p.first_overflow->overflow;
  return fmt::format("{} {} {}", name_of(o.expression), to_string(o.exact), o.wrapped);
}

// As tests/properties/narrow_exhaustive_slowtest.cpp, for one case.
std::string check_one(const Case& c, const Decomposition& shape) {
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  Examination e;
  e.c = c;
  e.shape = shape;
  e.prediction = predict(c, occupancy);
  const auto fail = [&](std::string_view what) { return fmt::format("{}: {}", repeat_command(c, "host"), what); };
  if (!e.prediction.exact) return fail("the prediction is not exact");
  e.execution = execute_on_host(c, {});
  e.observed = outcome_of(c, shape, e.prediction, e.execution);
  if (e.observed.verdict == Verdict::kNotExecuted) return fail("not executed: " + e.observed.reason);
  e.differences = differences(c, shape, e.prediction, e.execution, e.observed);
  if (const auto lines = findings(e, Role::kSelfCheck); !lines.empty()) return fail(lines[0]);
  if (c.implementation.rule != WidthRule::kFixed) return "";
  const Prediction symbolic = predict(c, occupancy, Engine::kSymbolic);
  const Outcome seen = outcome_of(c, shape, symbolic, e.execution);
  if (const auto lines = differences(c, shape, symbolic, e.execution, seen); !lines.empty()) {
    return fail("symbolic engine: " + lines[0]);
  }
  if (symbolic.first_overflow) {
    const Overflow& o = symbolic.first_overflow->overflow;
    if (o.expression == Expression::kNone || o.exact == o.wrapped) return fail("an overflow that is none");
  }
  if (!symbolic.exact || symbolic.verdict == Verdict::kHang) return "";
  const Prediction traced = predict(c, occupancy, Engine::kTraced);
  const auto traced_lines = differences(c, shape, traced, e.execution, outcome_of(c, shape, traced, e.execution));
  if (!traced_lines.empty()) return fail("traced engine: " + traced_lines[0]);
  // A size that was narrowed shows in no address.
  const std::string one = overflow_of(symbolic);
  const std::string other = overflow_of(traced);
  if (one.find("_size ") == std::string::npos && one != other) return fail(fmt::format("{} or {}", one, other));
  return "";
}

}  // namespace

std::string narrow_runs_are_as_predicted() {
  std::vector<Decomposition> shapes;
  for (int64_t outer = 1; outer <= kNumelMax; ++outer) {
    for (int64_t dim = 1; outer * dim <= kNumelMax; ++dim) {
      for (int64_t inner = 1; outer * dim * inner <= kNumelMax; ++inner) shapes.push_back({outer, dim, inner});
    }
  }
  // With both types, and rows with two vector sizes; operations and families take turns. A step that is prime to their
  // number spreads the shapes.
  const size_t count = shapes.size();
  const size_t step = 7919;
  for (size_t i = 0, at = 0; i < count; ++i, at = (at + step) % count) {
    const Decomposition& shape = shapes[at];
    if (shape.numel() > kAllUpTo && i % 5 != 0) continue;
    Case c;
    c.shape = {shape.outer_size, shape.dim_size, shape.inner_size};
    c.axis = 1;
    size_t turn = i;
    for (const DType dtype : {DType::kF16, DType::kF32}) {
      if (dtype != DType::kF16 && shape.inner_size > 1) continue;
      for (const IndexType type : {IndexType::kU8, IndexType::kI8}) {
        c.dtype = dtype;
        c.operation = kOperations[turn % 4];
        const bool masks = c.operation == Operation::kLogSoftmaxBackward && turn % 3 == 0;
        c.family = turn % 7 == 0 ? FormFamily::kSeed : masks ? FormFamily::kCodedOutput : FormFamily::kCoded;
        ++turn;
        for (const WidthRule rule : {WidthRule::kFixed, WidthRule::kSafe}) {
          c.implementation = {rule, type, std::nullopt};
          if (rule == WidthRule::kFixed) c.implementation.path = path_of(shape);
          if (std::string problem = check_one(c, shape); !problem.empty()) return problem;
        }
      }
    }
  }
  return "";
}

}  // namespace brink
