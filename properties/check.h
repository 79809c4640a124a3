#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "properties/examine.h"
#include "properties/generator.h"
#include "properties/plan.h"

namespace brink {

/// What `brink check` is asked to do.
struct CheckOptions {
  uint64_t seed = 0;
  std::optional<int> cases;       ///< default: enough to aim at every target
  std::optional<double> seconds;  ///< stop after this time
  GeneratorOptions generator;
  std::optional<MemoryKind> memory;  ///< default: sparse on the host, aliased on a GPU
  Role role = Role::kSelfCheck;
  double limit_seconds = 60;     ///< for one case in a worker process
  OnExamination on_examination;  ///< called with each examination, those of shrinking too
  std::optional<Plan> plan;      ///< run its cases instead of generated ones; each of its cells must be reached
};

/// Findings with one cause: operation, path, expression and verdict.
struct FindingGroup {
  Examination smallest;  ///< shrunk
  std::vector<std::string> lines;
  int64_t count = 0;
  int shrink_runs = 0;
};

struct CheckReport {
  int64_t planned = 0;
  int64_t examined = 0;
  int64_t executed = 0;
  int64_t launched = 0;  ///< executed cases that are not empty: an empty tensor needs no device
  double seconds = 0;
  double predict_seconds = 0;  ///< the oracle's share
  double generate_seconds = 0;
  std::map<std::string, int64_t> verdicts;                                  ///< observed
  std::map<std::string, std::map<std::string, int64_t>> by_implementation;  ///< implementation -> verdict -> cases
  std::map<std::string, int64_t> not_executed;                              ///< reason -> cases
  std::map<std::string, FindingGroup> findings;                             ///< by cause
  std::set<Cell> reached;
  std::set<Cell> required;  ///< cells that the examined cases were to reach
  std::vector<Cell> missing;
  std::vector<std::string> plan_missing;  ///< cells of the plan that no case reached
  int64_t defects_as_predicted = 0;       ///< known defects that failed exactly as predicted
  bool stopped_by_time = false;

  /// 0, 1 or 3 as in design.md, section 5.
  int exit_status() const;
};

/// Called after each case.
using CheckProgress = std::function<void(const CheckReport&)>;

/// Generates, predicts, runs and compares. Deterministic but for times and what `seconds` cuts off.
CheckReport check(const CheckOptions& options, const CheckProgress& progress);

}  // namespace brink
