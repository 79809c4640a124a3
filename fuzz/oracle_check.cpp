#include "fuzz/oracle_check.h"

#include <fmt/format.h>

#include "properties/comparison.h"
#include "properties/examine.h"

namespace brink {

MutationLimits oracle_limits() {
  MutationLimits limits;
  limits.implementations = all_implementations();
  std::erase_if(limits.implementations, [](const Implementation& i) { return !i.scaled(); });
  return limits;
}

std::string oracle_problem(const Case& c) {
  const auto shape = std::get<Decomposition>(decompose(c));
  if (shape.numel() == 0) return "";
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  Examination e;
  e.c = c;
  e.shape = shape;
  e.prediction = predict(c, occupancy);
  e.execution = execute_on_host(c, {});
  // By each engine: the set of elements must be the one that was seen, or hold it where the engine says so.
  const auto problem = [&](Engine engine, std::string_view name) -> std::string {
    const Prediction prediction = predict(c, occupancy, engine);
    const Outcome observed = outcome_of(c, shape, prediction, e.execution);
    const auto lines = differences(c, shape, prediction, e.execution, observed);
    return lines.empty() ? "" : fmt::format("{} engine: {}", name, lines[0]);
  };
  e.observed = outcome_of(c, shape, e.prediction, e.execution);
  if (e.observed.verdict == Verdict::kNotExecuted) return "not executed: " + e.observed.reason;
  e.differences = differences(c, shape, e.prediction, e.execution, e.observed);
  if (const auto lines = findings(e, Role::kSelfCheck); !lines.empty()) return lines[0];
  if (std::string line = problem(Engine::kSymbolic, "symbolic"); !line.empty()) return line;
  const bool narrow = e.prediction.index_type && limits_of(*e.prediction.index_type).bits < 32;
  if (!narrow) return "";
  if (!e.prediction.exact) return "the prediction is not exact";
  return problem(Engine::kTraced, "traced");
}

}  // namespace brink
