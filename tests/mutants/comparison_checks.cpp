#include <fmt/format.h>

#include <functional>

#include "properties/check.h"
#include "properties/column_value.h"
#include "tests/mutants/checks.h"

// What tells good from bad must itself be shown something bad.

namespace brink {

namespace {

Case case_of(const char* implementation, Operation operation, std::vector<int64_t> shape) {
  Case c;
  c.operation = operation;
  c.shape = std::move(shape);
  c.axis = 1;
  c.implementation = *parse_implementation(implementation);
  return c;
}

/// A tampered examination is compared again.
using Tamper = std::function<void(Examination&)>;

std::vector<std::string> compared_again(Examination e, const Tamper& tamper) {
  tamper(e);
  e.observed = outcome_of(e.c, e.shape, e.prediction, e.execution);
  return differences(e.c, e.shape, e.prediction, e.execution, e.observed);
}

std::optional<FoundValue*> contended_value(Examination& e) {
  for (FoundValue& value : e.execution.raw.values) {
    if (contains(e.prediction.contended, position_of(e.shape, value.element))) return &value;
  }
  return std::nullopt;
}

bool holds_the_right_value(const Examination& e, const FoundValue& value) {
  return same_value(e.c.dtype, value.bits, expected_bits(closed_form_of(e.c, e.shape), value.element));
}

}  // namespace

std::string planted_differences_are_reported() {
  Examiner examiner(Device::kHost);
  const Case cases[] = {
      case_of("spatial/u8", Operation::kSoftmaxBackward, {3, 10, 10}),
      case_of("spatial/i8", Operation::kLogSoftmaxBackward, {3, 10, 10}),
      case_of("last_dim/u8", Operation::kLogSoftmaxForward, {60, 5, 1}),
      case_of("spatial/u8", Operation::kSoftmaxBackward, {1, 2, 130}),
      case_of("dispatched/u8", Operation::kSoftmaxForward, {3, 10, 10}),
  };
  for (const Case& c : cases) {
    Examination e = examiner.examine(c);
    const auto fail = [&](std::string_view what) { return fmt::format("{}: {}", repeat_command(c, "host"), what); };
    if (!e.differences.empty()) return fail(e.differences[0]);
    if (!e.prediction.exact || !e.execution.raw.written_twice) return fail("not exact");
    std::vector<std::pair<std::string, Tamper>> tampers = {
        {"another verdict", [](Examination& t) { t.prediction.verdict = Verdict::kLaunchRejected; }},
        {"another path",
         [](Examination& t) {
           t.prediction.path = t.prediction.path == Path::kSpatial ? Path::kLastDim : Path::kSpatial;
         }},
        {"another variant",
         [](Examination& t) {
           t.prediction.variant = *t.prediction.variant == Variant::kBlock ? Variant::kWarp : Variant::kBlock;
         }},
        {"another index type", [](Examination& t) { t.prediction.index_type = IndexType::kU16; }},
        {"no wrong elements but one",
         [](Examination& t) {
           t.prediction.wrong = {{{0, 0}, {0, 0}, {0, 0}}};
         }},
        {"one element never written",
         [](Examination& t) {
           t.prediction.never_written = {{{0, 0}, {0, 0}, {0, 0}}};
         }},
        {"the last element wrong",
         [](Examination& t) {
           t.execution.raw.wrong = {{t.shape.numel() - 1, t.shape.numel() - 1}};
         }},
        {"the last element unwritten and nothing else",
         [](Examination& t) {
           t.execution.raw.unwritten = {{t.shape.numel() - 1, t.shape.numel() - 1}};
         }},
        {"element 1 alone written twice",
         [](Examination& t) {
           t.execution.raw.written_twice = std::vector<Interval>{{1, 1}};
         }},
        {"an address far outside",
         [](Examination& t) {
           t.execution.raw.out_of_bounds.push_back({900, 900});
         }},
        {"a hang", [](Examination& t) { t.execution.raw.ending = Ending::kHang; }},
        {"a fault", [](Examination& t) { t.execution.raw.ending = Ending::kFault; }},
        {"a rejected launch", [](Examination& t) { t.execution.raw.ending = Ending::kLaunchRejected; }},
        {"a mark outside",
         [](Examination& t) {
           t.execution.raw.wild_writes = true;
           t.prediction.verdict = Verdict::kOk;
         }},
    };
    if (!e.prediction.wrong.empty()) {
      tampers.push_back({"no wrong elements", [](Examination& t) { t.prediction.wrong.clear(); }});
      tampers.push_back({"all right", [](Examination& t) { t.execution.raw.wrong.clear(); }});
      tampers.push_back({"a superset without the wrong ones", [](Examination& t) {
                           t.prediction.exact = false;
                           t.prediction.wrong.clear();
                         }});
    }
    if (!e.prediction.never_written.empty()) {
      tampers.push_back({"all written", [](Examination& t) { t.execution.raw.unwritten.clear(); }});
      tampers.push_back({"a superset without what is never written", [](Examination& t) {
                           t.prediction.exact = false;
                           t.prediction.never_written.clear();
                         }});
    }
    if (!e.prediction.contended.empty()) {
      tampers.push_back({"none written twice", [](Examination& t) { t.execution.raw.written_twice->clear(); }});
      tampers.push_back(
          {"a contended element with another value", [](Examination& t) { (*contended_value(t))->bits = 0x3555; }});
      tampers.push_back({"writes not counted, a contended element with another value", [](Examination& t) {
                           t.execution.raw.written_twice.reset();
                           FoundValue& value = **contended_value(t);
                           value.bits = 0x3555;
                           t.execution.raw.wrong.push_back({value.element, value.element});
                           t.execution.raw.wrong = normalized(t.execution.raw.wrong);
                         }});
      tampers.push_back({"a superset without the contended ones", [](Examination& t) {
                           t.prediction.exact = false;
                           t.prediction.contended.clear();
                         }});
    }
    if (!e.prediction.out_of_bounds.empty()) {
      tampers.push_back({"nothing out of bounds", [](Examination& t) { t.execution.raw.out_of_bounds.clear(); }});
      tampers.push_back(
          {"one address less out of bounds", [](Examination& t) { ++t.execution.raw.out_of_bounds[0].first; }});
    }
    for (const auto& [name, tamper] : tampers) {
      if (compared_again(e, tamper).empty()) return fail("not noticed: " + name);
    }
    const auto still_agree = compared_again(e, [](Examination& t) { t.prediction.exact = false; });
    if (!still_agree.empty()) return fail("a superset that holds everything: " + still_agree[0]);
    if (e.prediction.contended.empty()) continue;
    // A GPU's memory does not count writes: contended elements are told by their values.
    const auto uncounted = compared_again(e, [](Examination& t) {
      t.execution.raw.written_twice.reset();
      for (const FoundValue& value : t.execution.raw.values) {
        if (!contains(t.prediction.contended, position_of(t.shape, value.element))) continue;
        if (holds_the_right_value(t, value)) continue;
        t.execution.raw.wrong.push_back({value.element, value.element});
      }
      t.execution.raw.wrong = normalized(t.execution.raw.wrong);
    });
    if (!uncounted.empty()) return fail("writes not counted: " + uncounted[0]);
  }
  return "";
}

std::string planted_outcomes_are_findings() {
  Outcome sets;
  const std::vector<Box> some = {{{0, 0}, {0, 0}, {0, 0}}};
  if (verdict_of_sets(sets) != Verdict::kOk) return "nothing bad is not ok";
  sets.never_written = some;
  if (verdict_of_sets(sets) != Verdict::kUnwritten) return "unwritten";
  for (std::vector<Box> Outcome::*set : {&Outcome::wrong, &Outcome::contended}) {
    Outcome other = sets;
    other.*set = some;
    if (verdict_of_sets(other) != Verdict::kMismatch) return "mismatch";
  }
  Examination e;
  e.c = case_of("spatial/u32", Operation::kSoftmaxBackward, {1, 2, 3});
  const auto count = [&](const char* implementation, Verdict predicted, Verdict observed, Role role, bool differ) {
    e.c.implementation = *parse_implementation(implementation);
    e.prediction.verdict = predicted;
    e.observed.verdict = observed;
    e.differences = differ ? std::vector<std::string>{"a difference"} : std::vector<std::string>();
    return findings(e, role).size();
  };
  const Verdict ok = Verdict::kOk;
  for (const Verdict bad : {Verdict::kMismatch, Verdict::kUnwritten, Verdict::kOutOfBounds, Verdict::kFault,
                            Verdict::kHang, Verdict::kLaunchRejected}) {
    const std::string name(name_of(bad));
    // A known defect that fails as predicted is no finding for brink itself, and one for everyone else.
    if (count("spatial/u32", bad, bad, Role::kSelfCheck, false) != 0) return "a known defect: " + name;
    if (count("spatial/u32", bad, bad, Role::kUser, false) == 0) return "a user's defect: " + name;
    for (const Role role : {Role::kSelfCheck, Role::kUser}) {
      if (count("dispatched", bad, bad, role, false) == 0) return "dispatched: " + name;
      if (count("dispatched", ok, bad, role, true) == 0) return "dispatched, not predicted: " + name;
      if (count("dispatched", bad, ok, role, false) == 0) return "dispatched, did not come true: " + name;
      if (count("spatial/u32", ok, bad, role, true) == 0) return "not predicted: " + name;
      if (count("spatial/u32", bad, ok, role, true) == 0) return "did not come true: " + name;
    }
  }
  for (const Role role : {Role::kSelfCheck, Role::kUser}) {
    if (count("dispatched", ok, ok, role, false) != 0) return "ok is a finding";
    if (count("dispatched", ok, ok, role, true) == 0) return "sets that differ are no finding";
    if (count("dispatched", ok, Verdict::kNotExecuted, role, false) != 0) return "what was not executed is a finding";
  }
  return "";
}

std::string exit_status_tells_what_is_missing() {
  CheckReport report;
  if (report.exit_status() != 3) return "nothing was executed";
  report.executed = 1;
  if (report.exit_status() != 3) return "nothing but empty tensors was executed";
  report.launched = 1;
  if (report.exit_status() != 0) return "all is well";
  report.plan_missing.emplace_back("planned");
  if (report.exit_status() != 3) return "a planned cell is missing";
  report.plan_missing.clear();
  report.missing.emplace_back();
  if (report.exit_status() != 3) return "a cell is missing";
  report.findings["cause"];
  if (report.exit_status() != 1) return "a finding";

  // Every case is counted once. Without a GPU none does but the empty ones, which need none.
  for (const Device device : {Device::kHost, Device::kCuda}) {
    CheckOptions options;
    options.seed = 3;
    options.cases = 100;
    options.generator.device = device;
    options.generator.exact_prime = false;
    const CheckReport done = check(options, [](const CheckReport&) {});
    int64_t skipped = 0;
    for (const auto& [reason, count] : done.not_executed) skipped += count;
    const auto verdict = done.verdicts.find("not_executed");
    const int64_t counted = verdict == done.verdicts.end() ? 0 : verdict->second;
    if (done.examined != 100 || done.executed + skipped != 100 || skipped != counted) {
      return fmt::format("{}: {} executed and {} skipped of {}", name_of(device), done.executed, skipped,
                         done.examined);
    }
    if (device == Device::kCuda && done.launched != 0) return "launched without a GPU";
    if (device == Device::kCuda && done.exit_status() != 3)
      return fmt::format("status {} without a GPU", done.exit_status());
  }
  return "";
}

}  // namespace brink
