#include "properties/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "properties/finding.h"
#include "properties/matrix.h"
#include "properties/shrink.h"

namespace brink {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxShrunkGroups = 12;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<Case> generated_cases(const CheckOptions& options) {
  GeneratorOptions generator_options = options.generator;
  if (generator_options.device == Device::kCuda) {
    std::erase_if(generator_options.implementations,
                  [](const Implementation& i) { return i.scaled() || i.build == Build::kTornBarrier; });
  }
  const CaseGenerator generator(generator_options);
  // Boundary cases are 60% of all, and half of them go to each path's targets.
  const auto targets = static_cast<int64_t>(generator.targets().size());
  const int64_t planned = options.cases.value_or(std::max<int64_t>(500, targets * 4));
  return generator.generate(options.seed, static_cast<int>(planned));
}

}  // namespace

int CheckReport::exit_status() const {
  if (!findings.empty()) return 1;
  if (!plan_missing.empty()) return 3;
  return missing.empty() && launched > 0 ? 0 : 3;
}

CheckReport check(const CheckOptions& options, const CheckProgress& progress) {
  CheckReport report;
  const auto start = Clock::now();
  Examiner examiner(options.generator.device, {.seconds = options.limit_seconds});
  examiner.on_examination(options.on_examination);
  std::vector<Case> cases;
  std::set<std::string> plan_left;
  if (options.plan) {
    for (const PlannedCase& planned : options.plan->cases) {
      cases.push_back(planned.c);
      plan_left.insert(planned.cells.begin(), planned.cells.end());
    }
  } else {
    cases = generated_cases(options);
  }
  report.planned = static_cast<int64_t>(cases.size());
  report.generate_seconds = seconds_since(start);
  for (Case c : cases) {
    if (options.seconds && seconds_since(start) > *options.seconds) {
      report.stopped_by_time = true;
      break;
    }
    if (options.memory) c.memory = *options.memory;
    const Examination e = examiner.examine(c);
    ++report.examined;
    report.predict_seconds += e.predict_seconds;
    const bool executed = e.observed.verdict != Verdict::kNotExecuted;
    if (executed) ++report.executed;
    if (executed && e.shape.numel() != 0) ++report.launched;
    if (!executed) ++report.not_executed[e.observed.reason];
    ++report.verdicts[std::string(name_of(e.observed.verdict))];
    ++report.by_implementation[c.implementation.name()][std::string(name_of(e.observed.verdict))];
    for (const Cell& cell : cells_reached(c, e.shape, as_predicted(c, e.shape, e.prediction))) {
      report.required.insert(cell);
    }
    if (executed) {
      for (const Cell& cell : cells_reached(c, e.shape, e.execution)) report.reached.insert(cell);
      if (options.plan) {
        for (const std::string& cell : plan_cells(c, e.shape, e.execution)) plan_left.erase(cell);
      }
    }
    const std::vector<std::string> lines = findings(e, options.role);
    if (lines.empty()) {
      if (executed && e.observed.verdict != Verdict::kOk) ++report.defects_as_predicted;
    } else {
      FindingGroup& group = report.findings[cause_of(e)];
      if (group.count++ == 0) {
        group.smallest = e;
        group.lines = lines;
        if (report.findings.size() <= kMaxShrunkGroups) {
          Shrunk shrunk = shrink(examiner, e, options.role);
          group.smallest = std::move(shrunk.smallest);
          group.shrink_runs = shrunk.runs;
          group.lines = findings(group.smallest, options.role);
        }
      }
    }
    report.seconds = seconds_since(start);
    progress(report);
  }
  std::set_difference(report.required.begin(), report.required.end(), report.reached.begin(), report.reached.end(),
                      std::back_inserter(report.missing));
  report.plan_missing.assign(plan_left.begin(), plan_left.end());
  report.seconds = seconds_since(start);
  return report;
}

}  // namespace brink
