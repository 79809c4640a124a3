#include <fmt/format.h>

#include <algorithm>

#include "properties/audit.h"
#include "properties/check.h"
#include "properties/windows.h"
#include "tests/mutants/checks.h"

namespace brink {

namespace {

Case case_of(const char* implementation, Operation operation, std::vector<int64_t> shape, int64_t axis) {
  Case c;
  c.operation = operation;
  c.shape = std::move(shape);
  c.axis = axis;
  c.implementation = *parse_implementation(implementation);
  return c;
}

struct Planned {
  Decomposition shape;
  Prediction prediction;
  Dispatch dispatch;
  std::vector<Interval> windows;
};

Planned plan(const Case& c) {
  Planned p;
  p.shape = std::get<Decomposition>(decompose(c));
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  p.prediction = predict(c, occupancy, Engine::kSymbolic);
  p.dispatch = std::get<Dispatch>(dispatch(c.implementation, p.shape, c.operation, c.dtype, occupancy));
  p.windows = choose_windows(c, p.shape, p.prediction);
  return p;
}

const CaseGenerator& generator() {
  // Solving for the targets takes a while; what they are is checked below, whatever mutant was on at first.
  static const CaseGenerator generator{[] {
    GeneratorOptions options;
    options.exact_prime = false;
    return options;
  }()};
  return generator;
}

bool looked_at(const std::vector<Interval>& windows, int64_t n) {
  return std::any_of(windows.begin(), windows.end(), [&](const Interval& w) { return w.first <= n && n <= w.last; });
}

}  // namespace

std::string windows_show_what_they_must() {
  Draws draws(1);
  size_t i = 0;
  for (const Target& target : generator().targets()) {
    if (++i % 5 != 0) continue;
    const Case c = generator().at(target, draws);
    const Planned p = plan(c);
    const int64_t numel = p.shape.numel();
    const auto fail = [&](std::string_view what) { return fmt::format("{}: {}", repeat_command(c, "host"), what); };
    for (size_t w = 0; w < p.windows.size(); ++w) {
      const Interval& window = p.windows[w];
      if (window.first < 0 || window.last >= numel || window.first > window.last)
        return fail("a window outside the tensor");
      if (w > 0 && window.first <= p.windows[w - 1].last + 1) return fail("windows that overlap or touch");
    }
    std::vector<std::pair<std::string, int64_t>> places = {
        {"start", 0}, {"end", numel - 1}, {"row end", p.shape.inner_size - 1}};
    for (const int bits : {31, 32}) {
      places.emplace_back(fmt::format("2^{}", bits), int64_t{1} << bits);
      places.emplace_back(fmt::format("2^{} bytes", bits), (int64_t{1} << bits) / size_of(c.dtype));
    }
    if (const int bits = limits_of(p.dispatch.index_type).bits; bits < 64) {
      places.emplace_back("wrapped end", (numel - 1) % (int64_t{1} << bits));
    }
    if (const auto element = boundary_element(target.expression, target.boundary, c.dtype)) {
      places.emplace_back("boundary", *element);
    }
    for (const auto& [name, place] : places) {
      for (int64_t n = place - 8; n <= place + 8; ++n) {
        if (place >= 0 && place < numel && n >= 0 && n < numel && !looked_at(p.windows, n)) {
          return fail(fmt::format("element {} at {} is in no window", n, name));
        }
      }
    }
  }
  return "";
}

std::string known_cells_are_reached() {
  const auto reach = [](const Case& c) {
    const Planned p = plan(c);
    FixedOccupancy occupancy = host_occupancy(c.implementation);
    Execution execution;
    execution.launched = counted_launch(c.implementation, p.shape, c.operation, c.dtype, occupancy);
    const bool rejected = execution.launched && execution.launched->sized.form == LaunchForm::kRejected;
    execution.raw.ending = rejected ? Ending::kLaunchRejected : Ending::kCompleted;
    execution.raw.looked_at = p.windows;
    return cells_reached(c, p.shape, execution);
  };
  const auto has = [](const std::vector<Cell>& cells, std::string_view text) {
    return std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) { return to_text(cell) == text; });
  };
  // The last offset of 2 * 2^31 elements is 2^32 - 1.
  const std::pair<int64_t, const char*> seeds[] = {{2147483647, "below"}, {2147483648, "at"}, {2147483649, "above"}};
  for (const auto& [inner, side] : seeds) {
    const Case c = case_of("spatial/u32", Operation::kSoftmaxBackward, {1, 2, inner}, 1);
    const auto cells = reach(c);
    for (const char* location : {"start", "boundary", "end"}) {
      const bool expected = inner > 2147483647 || std::string_view(location) != "boundary";
      const auto text =
          fmt::format("spatial/columns backward u32 element_offset 2^32-1 {} {} resident", side, location);
      if (has(cells, text) != expected) return fmt::format("{}: {} {}", inner, expected ? "no" : "it has", text);
    }
    const Planned p = plan(c);
    for (const Cell& cell : cells_of(c, p.shape, p.dispatch, {{0, 5}}, LaunchForm::kResident)) {
      if (cell.location != Location::kStart) return "a location that nobody looked at";
    }
    Execution skipped;
    skipped.launched = p.dispatch;
    if (!cells_reached(c, p.shape, skipped).empty()) return "cells of a case that was not executed";
    Execution reduced;
    reduced.launched = p.dispatch;
    reduced.launched->sized.form = LaunchForm::kReducedY;
    reduced.raw.ending = Ending::kCompleted;
    reduced.raw.looked_at = p.windows;
    for (const Cell& cell : cells_reached(c, p.shape, reduced)) {
      if (cell.launch_form != LaunchForm::kReducedY) return "a halved block is not reduced";
    }
  }
  Draws draws(2);
  size_t i = 0;
  for (const Target& target : generator().targets()) {
    if (++i % 5 != 0) continue;
    const Case c = generator().at(target, draws);
    const auto cells = reach(c);
    const bool hit = std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) {
      return cell.expression == target.expression && cell.boundary == target.boundary && cell.side == target.side &&
             cell.index_type == target.index_type && cell.backward == target.backward &&
             cell.variant == target.variant && (!target.crossed || cell.location == Location::kBoundary);
    });
    if (!hit) return fmt::format("{} does not reach {}", repeat_command(c, "host"), name_of(target.expression));
  }
  return "";
}

std::string known_matrix_cells_are_reached() {
  // Shape, axis, looked at from and to -> the cells without what comes behind the place.
  struct Known {
    std::vector<int64_t> shape;
    int64_t axis;
    Interval looked_at;
    std::vector<std::string> cells;
  };
  const Known known[] = {
      {{1, 2, 2147483649},
       1,
       {4294967296, 4294967297},
       {"non-last inner>1 >2^32-1 2^32-1", "non-last inner>1 >2^32-1 end"}},
      {{1, 2, 2147483648}, 1, {4294967295, 4294967295}, {"non-last inner>1 >2^31-1 end"}},
      {{1, 2, 1073741825}, 1, {0, 2147483647}, {"non-last inner>1 >2^31-1 start", "non-last inner>1 >2^31-1 2^31-1"}},
      {{1, 2, 1073741824}, 1, {2147483647, 2147483647}, {"non-last inner>1 <=2^31-1 end"}},
      {{1, 1, 2147483650}, 2, {0, 0}, {"last inner=1 >2^31-1 start"}},
      {{1, 2147483650, 1}, 1, {1, 2147483646}, {}},
      {{3, 5, 1}, 1, {0, 0}, {"non-last inner=1 <=2^31-1 start"}},
      {{3, 5}, -1, {14, 14}, {"last inner=1 <=2^31-1 end"}},
  };
  for (const Known& k : known) {
    const Case c = case_of("dispatched", Operation::kSoftmaxBackward, k.shape, k.axis);
    std::vector<std::string> found;
    for (const MatrixCell& cell :
         matrix_cells_of(c, plan(c).shape, plan(c).dispatch, {k.looked_at}, LaunchForm::kResident)) {
      const std::string text = to_text(cell);
      const size_t begin = text.find("backward ") + 9;
      found.push_back(text.substr(begin, text.find(" dispatched ") - begin));
    }
    if (found != k.cells) return fmt::format("{}: {} matrix cells, not {}", to_text(c), found.size(), k.cells.size());
  }
  return "";
}

std::string known_tests_are_judged() {
  const auto judged = [](const char* fields, int64_t device_memory) {
    const std::string text = fmt::format(R"({{"brink_audit":1,"tests":[{{"name":"n","axis":-1,{}}}]}})", fields);
    const AuditFile file = std::get<AuditFile>(parse_audit(text));
    return audit(file, {*parse_implementation("dispatched"), device_memory}).rows.at(0);
  };
  constexpr int64_t kGiB = int64_t{1} << 30;
  const char* old_test =
      R"("operation":"softmax_backward","shape":[1,1,2147483650],"dtype":"f16","memory_guard":"20GiB skip",)"
      R"("inputs":"constant","compared":"first","expected":4.66e-10)";
  const AuditedRow runs = judged(old_test, 20 * kGiB);
  if (!runs.runs || runs.matrix.size() != 1) return "what fits a device does not run there";
  if (runs.weaknesses.size() != 3) return fmt::format("{} weaknesses of three", runs.weaknesses.size());
  if (runs.elements != OffsetRange::kUnsigned || runs.bytes != OffsetRange::kAbove) return "ranges of the old test";
  const AuditedRow skipped = judged(old_test, 20 * kGiB - 1);
  if (skipped.runs || !skipped.matrix.empty() || !skipped.cells.empty()) return "a skipped test reaches something";
  const char* strong =
      R"("operation":"softmax_forward","shape":[2,2147483649],"dtype":"f64","inputs":"coded","compared":"all")";
  if (!judged(strong, 1000 * kGiB).weaknesses.empty()) return "a check of everything is weak";
  if (judged(strong, 40 * kGiB).runs) return "two arrays of 32 GiB and more fit in 40 GiB";
  const char* near =
      R"("operation":"scan","shape":[4294967297],"dtype":"u8","compared":"element:4294967295","expected":"reference")";
  if (judged(near, 1000 * kGiB).weaknesses.size() != 1) return "nobody notices that the last element is not looked at";
  const char* within =
      R"("operation":"scan","shape":[8],"dtype":"f32","compared":"all","expected":0.5,"tolerance":0.5)";
  if (judged(within, kGiB).weaknesses.size() != 1) return "a tolerance that includes 0 is not noticed";
  return "";
}

std::string true_width_cases_are_as_predicted() {
  Examiner examiner(Device::kHost);
  std::vector<Case> cases;
  for (const char* implementation : {"spatial/u32", "spatial/i32", "dispatched"}) {
    cases.push_back(case_of(implementation, Operation::kSoftmaxBackward, {1, 2, 2147483649}, 1));
    cases.push_back(case_of(implementation, Operation::kLogSoftmaxForward, {3, 3, 1073741827}, 1));
    cases.push_back(case_of(implementation, Operation::kSoftmaxForward, {2, 5, 858993459}, 1));
  }
  for (const char* implementation : {"last_dim/u32", "last_dim/i32", "dispatched"}) {
    cases.push_back(case_of(implementation, Operation::kSoftmaxBackward, {8388609, 1027}, 1));
    cases.push_back(case_of(implementation, Operation::kLogSoftmaxBackward, {47000003, 100}, 1));
  }
  // Dense memory faults where sparse memory takes note.
  for (const char* implementation : {"spatial/i8", "dispatched/i8"}) {
    cases.push_back(case_of(implementation, Operation::kSoftmaxBackward, {3, 10, 10}, 1));
    cases.back().memory = MemoryKind::kDense;
  }
  // Four periods of the filler.
  for (const Operation operation : {Operation::kSoftmaxBackward, Operation::kLogSoftmaxForward}) {
    cases.push_back(case_of("dispatched", operation, {1, 2, 4000037}, 1));
    cases.back().memory = MemoryKind::kAliased;
    cases.back().dtype = DType::kF64;
  }
  for (const Case& c : cases) {
    const Examination e = examiner.examine(c);
    const auto fail = [&](std::string_view what) { return fmt::format("{}: {}", repeat_command(c, "host"), what); };
    if (e.observed.verdict == Verdict::kNotExecuted) return fail("not executed: " + e.observed.reason);
    if (const auto lines = findings(e, Role::kSelfCheck); !lines.empty()) return fail(lines[0]);
    if (c.implementation.rule == WidthRule::kFixed && e.observed.verdict == Verdict::kOk) return fail("no defect");
  }
  return "";
}

std::string generated_cases_are_as_predicted() {
  CheckOptions options;
  options.seed = 7;
  options.cases = 300;
  const CheckReport report = check(options, [](const CheckReport&) {});
  for (const auto& [cause, group] : report.findings) {
    return fmt::format("{}: {}: {}", cause, repeat_command(group.smallest.c, "host"),
                       group.lines.empty() ? "" : group.lines[0]);
  }
  if (report.examined != 300) return fmt::format("{} of 300 examined", report.examined);
  if (report.defects_as_predicted < 20) return fmt::format("only {} defects as predicted", report.defects_as_predicted);
  if (report.executed < 250) return fmt::format("only {} executed", report.executed);
  return "";
}

}  // namespace brink
