#include <fmt/format.h>

#include <memory>

#include "tools/brink/commands.h"
#include "tools/brink/options.h"
#include "tools/brink/plan_here.h"
#include "tools/brink/progress.h"
#include "tools/brink/text.h"

namespace brink {

namespace {

std::string counts_text(const std::map<std::string, int64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  return text.empty() ? "none" : text;
}

struct CellCounts {
  int64_t reached = 0;
  int64_t reachable = 0;
};

// Of the cells that this device can reach.
CellCounts count_cells(const CheckReport& report, Device device) {
  CellCounts counts;
  for (const CellStatus& status : all_cells(device)) {
    if (!status.reachable()) continue;
    ++counts.reachable;
    counts.reached += static_cast<int64_t>(report.reached.count(status.cell));
  }
  return counts;
}

void print_finding(const std::string& cause, const FindingGroup& group, Device device) {
  fmt::print("\nFINDING {} ({} case{})\n", cause, group.count, group.count == 1 ? "" : "s");
  for (const std::string& line : group.lines) fmt::print("  {}\n", line);
  fmt::print("{}", describe(group.smallest));
  if (group.shrink_runs > 0) fmt::print("  shrunk in {} runs\n", group.shrink_runs);
  fmt::print("  repeat: {}\n", repeat_command(group.smallest, device));
}

void print_report(const CheckReport& report, const CheckOptions& options, const CellCounts& cells) {
  const Device device = options.generator.device;
  for (const auto& [cause, group] : report.findings) print_finding(cause, group, device);
  if (!report.findings.empty()) fmt::print("\n");
  fmt::print("{} cases {} on {}: {}\n", report.examined,
             options.plan ? "of a plan" : fmt::format("with seed {}", options.seed), name_of(device),
             counts_text(report.verdicts));
  for (const auto& [name, verdicts] : report.by_implementation) {
    fmt::print("  {:<16} {}\n", name, counts_text(verdicts));
  }
  if (options.role == Role::kSelfCheck) {
    fmt::print("known defects: {} cases failed exactly as predicted\n", report.defects_as_predicted);
  }
  fmt::print(
      "cells: {} of {} reachable on this device; {} required by these cases (scale models included), {} of them "
      "missing\n",
      cells.reached, cells.reachable, report.required.size(), report.missing.size());
  for (const auto& [reason, count] : report.not_executed) fmt::print("not executed: {} cases: {}\n", count, reason);
  for (size_t i = 0; i < std::min<size_t>(5, report.missing.size()); ++i) {
    fmt::print("never reached: {}\n", to_text(report.missing[i]));
  }
  if (options.plan) {
    fmt::print("plan: {} of {} cells reached by {} cases\n",
               options.plan->cells - static_cast<int64_t>(report.plan_missing.size()), options.plan->cells,
               report.planned);
    for (size_t i = 0; i < std::min<size_t>(5, report.plan_missing.size()); ++i) {
      fmt::print("planned, but never reached: {}\n", report.plan_missing[i]);
    }
  }
  if (report.stopped_by_time) {
    fmt::print("stopped by --time: {} of {} cases were not run\n", report.planned - report.examined, report.planned);
  }
  fmt::print("{:.1f} s, {:.0f} cases/s (generator {:.1f} s, oracle {:.1f} s)\n", report.seconds,
             static_cast<double>(report.examined) / std::max(report.seconds, 1e-9), report.generate_seconds,
             report.predict_seconds);
  const int status = report.exit_status();
  fmt::print("{}\n", status == kExitOk        ? options.role == Role::kSelfCheck
                                                    ? "OK: dispatched kernels are right, known defects fail as predicted"
                                                    : "OK"
                     : status == kExitFinding ? fmt::format("FAILED: {} findings", report.findings.size())
                                              : "NOT EXECUTED: something that was required did not run");
}

nlohmann::ordered_json report_json(const CheckReport& report, const CheckOptions& options, const CellCounts& cells) {
  nlohmann::ordered_json j;
  j["seed"] = options.seed;
  j["device"] = name_of(options.generator.device);
  j["role"] = name_of(options.role);
  j["planned"] = report.planned;
  j["examined"] = report.examined;
  j["executed"] = report.executed;
  j["stopped_by_time"] = report.stopped_by_time;
  j["verdicts"] = report.verdicts;
  j["by_implementation"] = report.by_implementation;
  j["not_executed"] = report.not_executed;
  j["defects_as_predicted"] = report.defects_as_predicted;
  // Reachable cells are those of true-width implementations; reached and required ones are the scale models' as well.
  j["cells"] = {{"reachable", cells.reachable},
                {"reachable_reached", cells.reached},
                {"reached", report.reached.size()},
                {"required", report.required.size()},
                {"missing", nlohmann::ordered_json::array()}};
  for (const Cell& cell : report.missing) j["cells"]["missing"].push_back(to_text(cell));
  if (options.plan) j["plan"] = {{"cells", options.plan->cells}, {"missing", report.plan_missing}};
  j["findings"] = nlohmann::ordered_json::array();
  for (const auto& [cause, group] : report.findings) {
    nlohmann::ordered_json finding = to_json(group.smallest, options.role);
    finding["cause"] = cause;
    finding["cases"] = group.count;
    finding["lines"] = group.lines;
    finding["repeat"] = repeat_command(group.smallest, options.generator.device);
    j["findings"].push_back(std::move(finding));
  }
  j["seconds"] = report.seconds;
  j["exit_status"] = report.exit_status();
  return j;
}

struct Options {
  uint64_t seed = 0;
  int cases = 0;
  std::string time;
  std::vector<std::string> operations;
  std::string implementation;
  std::string device = "host";
  std::string memory;
  double limit = 60;
  bool json = false;
  EvidenceOption evidence;
  std::string plan_file;
  CLI::Option* plan = nullptr;
  CLI::Option* device_option = nullptr;
};

// The plan of a file, or, without one, a plan for this device and kDefaultPlanMemory.
Plan plan_of(const Options& options, std::optional<double> seconds) {
  if (options.plan_file.empty()) {
    return plan_here({parse_device(options.device), kDefaultPlanMemory, seconds}).plan;
  }
  auto parsed = parse_plan(read_input(options.plan_file, kPlanFileMax));
  if (const auto* error = std::get_if<std::string>(&parsed)) {
    throw UsageError{fmt::format("{}: {}", options.plan_file, *error)};
  }
  return std::get<Plan>(std::move(parsed));
}

CheckOptions to_check_options(const Options& options) {
  CheckOptions result;
  result.seed = options.seed;
  if (options.cases != 0) result.cases = options.cases;
  if (!options.time.empty()) result.seconds = parse_duration(options.time, false);
  result.limit_seconds = options.limit;
  result.generator.device = parse_device(options.device);
  if (!options.operations.empty()) {
    result.generator.operations.clear();
    for (const std::string& name : options.operations) result.generator.operations.push_back(operation_option(name));
  }
  if (!options.implementation.empty()) {
    result.generator.implementations = {implementation_option(options.implementation)};
    result.role = Role::kUser;
  }
  if (!options.memory.empty()) result.memory = memory_option(options.memory);
  if (options.plan->count() > 0) {
    result.plan = plan_of(options, result.seconds);
    const Device device = result.plan->limits.device;
    if (options.device_option->count() > 0 && device != result.generator.device) {
      throw UsageError{fmt::format("{} is a plan for --device {}", options.plan_file, name_of(device))};
    }
    result.generator.device = device;
  }
  return result;
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("check", "generate cases at the boundaries, predict, run and compare them");
  command->add_option("--seed", options->seed, "the same seed gives the same cases on every machine")
      ->check(check_not_negative);
  command->add_option("--cases", options->cases, "number of cases (default: enough for every boundary)")
      ->check(CLI::Range(1, 100000000));
  command->add_option("--time", options->time, "stop after this long, such as 90s, 10m or 8h");
  command->add_option("--op", options->operations, "only this operation (may be given several times)");
  command->add_option("--impl", options->implementation,
                      "test this implementation as a user's own: any defect is a finding. Without it brink checks "
                      "itself: dispatched kernels must be right and known defects must fail exactly as predicted");
  options->device_option = command->add_option("--device", options->device, "host or cuda");
  options->plan = command
                      ->add_option("--plan", options->plan_file,
                                   "run the cases of a plan (brink plan -o FILE; without FILE, of a plan made now), "
                                   "and fail with status 3 where a planned cell is not reached")
                      ->expected(0, 1);
  for (const char* other : {"--cases", "--op", "--impl"}) options->plan->excludes(command->get_option(other));
  options->plan->excludes(command->add_option("--memory", options->memory, "sparse (host), aliased or dense"));
  command->add_option("--limit", options->limit, "seconds until one case in a worker process is a hang")
      ->check(check_positive);
  command->add_flag("--json", options->json, "JSON on standard output");
  options->evidence.add_to(*command);
  command->callback([options, &status] {
    CheckOptions check_options = to_check_options(*options);
    const auto ledger = options->evidence.open(
        {"check", "", check_options.generator.device, check_options.role, check_options.seed, false});
    if (ledger) check_options.on_examination = [&](const Examination& e) { ledger->append(e); };
    Progress progress(check_options.seconds);
    const CheckReport report = check(check_options, [&](const CheckReport& r) { progress.show(r); });
    progress.finish();
    const CellCounts cells = count_cells(report, check_options.generator.device);
    if (options->json) {
      print_json(report_json(report, check_options, cells));
    } else {
      print_report(report, check_options, cells);
    }
    status = report.exit_status();
    require_written(ledger.get());
  });
}

}  // namespace brink
