#include "properties/replay.h"

#include <fmt/format.h>

#include "properties/json_text.h"

namespace brink {

using Json = nlohmann::ordered_json;

namespace {

template <class T>
std::variant<SavedCase, std::string> as_saved(std::variant<T, std::string> parsed) {
  if (auto* error = std::get_if<std::string>(&parsed)) return std::move(*error);
  return SavedCase(std::move(std::get<T>(parsed)));
}

class Replay {
 public:
  Replay(Examiner& examiner, const ChooseLimits& limits)
      : examiner_(examiner), limits_(limits), usual_(examiner.limits()) {}

  void operator()(const Case& c) {
    const auto e = run(c, Device::kHost, {});
    if (e) note(*e, findings(*e, Role::kSelfCheck));
  }

  void operator()(const Finding& finding) {
    const auto e = run(finding.smallest, finding.device, finding.limits);
    if (!e) return;
    const std::string now = findings(*e, finding.role).empty() ? "no finding" : cause_of(*e);
    if (now != finding.cause) note(*e, {fmt::format("was \"{}\", is now {}", finding.cause, now)});
  }

  void operator()(const Regression& regression) {
    for (const auto& [implementation, expected] : regression.expected) {
      Case c = regression.c;
      c.implementation = implementation;
      const auto e = run(c, regression.device, regression.limits);
      if (!e) continue;
      std::vector<std::string> problems;
      if (e->observed.verdict != expected) {
        problems.push_back(fmt::format("{} is {}, expected {}", implementation.name(), name_of(e->observed.verdict),
                                       name_of(expected)));
      }
      const bool own = implementation == regression.c.implementation;
      if (own && e->differences.empty() && !regression.agree) {
        problems.push_back("prediction and observation agree now, and did not when it was recorded");
      } else if (!own || regression.agree) {
        problems.insert(problems.end(), e->differences.begin(), e->differences.end());
      }
      if (own && problems.empty()) problems = changes(regression, *e);
      note(*e, problems);
    }
  }

  Replayed take() { return std::move(result_); }

 private:
  // Nothing where the case did not run.
  std::optional<Examination> run(const Case& c, Device recorded_on, const RunLimits& limits) {
    examiner_.set_limits(limits_ ? limits_(limits) : limits == RunLimits() ? usual_ : limits);
    Examination e = examiner_.examine(on_device(c, recorded_on, examiner_.device()));
    ++result_.runs;
    if (e.observed.verdict != Verdict::kNotExecuted) return e;
    result_.not_executed.push_back(fmt::format("{}: {}", c.implementation.name(), e.observed.reason));
    return std::nullopt;
  }

  void note(const Examination& e, const std::vector<std::string>& problems) {
    if (problems.empty()) return;
    result_.problems.insert(result_.problems.end(), problems.begin(), problems.end());
    result_.repeats.push_back(repeat_command(e, examiner_.device()));
  }

  // How a regression fails in another way than it did. Another device has other launches and looks at other places.
  std::vector<std::string> changes(const Regression& regression, const Examination& e) const {
    std::vector<std::string> lines;
    const auto differ = [&](std::string_view what, const Json& recorded, const Json& now) {
      if (recorded != now) lines.push_back(fmt::format("{} is {}, recorded {}", what, now.dump(), recorded.dump()));
    };
    const auto& overflow = e.prediction.first_overflow;
    differ("expression", regression.expression, name_of(overflow ? overflow->overflow.expression : Expression::kNone));
    if (examiner_.device() != regression.device) return lines;
    const auto compare = [&](std::string_view whose, const Json& recorded, const Json& now) {
      for (const char* field :
           {"verdict", "path", "index_type", "wrong", "never_written", "contended", "out_of_bounds"}) {
        differ(fmt::format("{}: {}", whose, field), recorded.contains(field) ? recorded.at(field) : Json(),
               now.at(field));
      }
    };
    compare("prediction", regression.prediction, to_json(static_cast<const Outcome&>(e.prediction)));
    compare("observation", regression.observation, to_json(e.observed));
    return lines;
  }

  Examiner& examiner_;
  const ChooseLimits& limits_;
  RunLimits usual_;
  Replayed result_;
};

}  // namespace

std::variant<SavedCase, std::string> parse_saved_case(std::string_view text) {
  const auto json = parse_json(text);
  if (const auto* error = std::get_if<std::string>(&json)) return *error;
  const Json& j = std::get<Json>(json);
  if (j.is_object() && j.contains("brink_regression")) return as_saved(parse_regression(text));
  if (j.is_object() && j.contains("brink_finding")) return as_saved(parse_finding(text));
  return as_saved(parse_case(text));
}

Case on_device(Case c, Device recorded_on, Device device) {
  if (recorded_on == device) return c;
  if (device == Device::kCuda && c.memory == MemoryKind::kSparse) c.memory = MemoryKind::kAliased;
  if (device == Device::kHost && c.memory == MemoryKind::kAliased) c.memory = MemoryKind::kSparse;
  return c;
}

Replayed replay(Examiner& examiner, const SavedCase& saved, const ChooseLimits& limits) {
  Replay run(examiner, limits);
  std::visit(run, saved);
  return run.take();
}

}  // namespace brink
