#include <fmt/format.h>

#include <map>
#include <memory>

#include "properties/examine.h"
#include "properties/generator.h"
#include "properties/whole_file.h"
#include "tools/brink/commands.h"
#include "tools/brink/options.h"
#include "tools/brink/plan_here.h"
#include "tools/brink/text.h"

namespace brink {

namespace {

constexpr size_t kShown = 3;  // of the cells that are left out

std::string memory_text(const Plan& plan) {
  std::map<std::string_view, int> kinds;
  for (const PlannedCase& planned : plan.cases) ++kinds[name_of(planned.c.memory)];
  std::string text;
  for (const auto& [kind, count] : kinds) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
  return text.empty() ? "none" : text;
}

// Reasons with the same beginning count as one.
std::map<std::string, int64_t> reasons_of(const Plan& plan) {
  std::map<std::string, int64_t> reasons;
  for (const auto& [cell, reason] : plan.left_out) ++reasons[reason.substr(0, reason.find(':'))];
  return reasons;
}

void print_plan(const PlanHere& here) {
  const Plan& plan = here.plan;
  const auto cases = static_cast<int64_t>(plan.cases.size());
  fmt::print("plan for {} with {} for a case{}; launches sized for {}\n", name_of(plan.limits.device),
             bytes_text(static_cast<double>(plan.limits.memory)),
             plan.limits.seconds ? fmt::format(" and {:.0f} s for all", *plan.limits.seconds) : "", here.sized_for);
  fmt::print("  cases         {} ({})\n", cases, memory_text(plan));
  fmt::print("  cells         {} of {} reachable\n", plan.cells,
             plan.cells + static_cast<int64_t>(plan.left_out.size()));
  fmt::print(
      "  lower bound   {} cases: so many of the cells share no case of the {} that this was chosen from; {} more "
      "({:.1f}%)\n",
      plan.lower_bound, plan.candidates, cases - plan.lower_bound,
      plan.lower_bound == 0
          ? 0.0
          : 100.0 * static_cast<double>(cases - plan.lower_bound) / static_cast<double>(plan.lower_bound));
  fmt::print("  time          about {:.0f} s; no choice of them takes less than about {:.0f} s\n", plan.seconds,
             plan.lower_bound_seconds);
  for (const auto& [reason, count] : reasons_of(plan)) fmt::print("  left out      {} cells: {}\n", count, reason);
  size_t shown = 0;
  for (const auto& [cell, reason] : plan.left_out) {
    if (++shown > kShown) break;
    fmt::print("    {}: {}\n", cell, reason);
  }
  if (plan.left_out.size() > kShown) fmt::print("    and {} more; --json names all\n", plan.left_out.size() - kShown);
}

}  // namespace

PlanHere plan_here(const PlanLimits& limits) {
  PlanHere here;
  Examiner examiner(limits.device);
  if (limits.device == Device::kHost) {
    here.sized_for = "the host's simulated device";
  } else if (examiner.worker().unavailable().empty()) {
    here.sized_for = examiner.worker().description();
  } else {
    here.sized_for = "the model of an H200 (no GPU here)";
    here.plan = make_plan(
        limits, [&](const Case& c) { return predict(c, *model_of(limits.device, c.implementation), Engine::kAuto); });
    return here;
  }
  here.plan = make_plan(limits, [&](const Case& c) { return examiner.predict(c); });
  return here;
}

void add_plan(CLI::App& app, int& /*status*/) {
  struct Options {
    std::string memory = "200MiB";
    std::string time;
    std::string device = "host";
    std::string output;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("plan", "choose the cases that reach every cell within limits in the least time");
  command->add_option(
      "--memory", options->memory,
      "real memory for the tensors of one case, such as 200MiB or 30GiB: a case gets dense memory where "
      "it fits, else aliased (GPU) or sparse (host)");
  command->add_option("--time", options->time, "for all cases, such as 90s, 10m or 8h, by the estimate");
  command->add_option("--device", options->device, "host or cuda");
  command->add_option("-o,--output", options->output, "the plan as a file for brink check --plan");
  command->add_flag("--json", options->json, "the plan on standard output: JSON, a line for each case");
  command->callback([options] {
    PlanLimits limits;
    limits.device = parse_device(options->device);
    limits.memory = bytes_option("--memory", options->memory);
    if (!options->time.empty()) limits.seconds = parse_duration(options->time, false);
    const PlanHere here = plan_here(limits);
    const std::string text = to_text(here.plan);
    if (!options->output.empty()) {
      if (const std::string error = write_whole(options->output, text); !error.empty()) throw UsageError{error};
    }
    if (options->json) {
      fmt::print("{}", text);
    } else {
      print_plan(here);
    }
  });
}

}  // namespace brink
