#include <fmt/format.h>

#include <memory>

#include "fuzz/case_bytes.h"
#include "properties/replay.h"
#include "properties/shrink.h"
#include "tools/brink/commands.h"
#include "tools/brink/options.h"
#include "tools/brink/text.h"

namespace brink {

namespace {

struct Options {
  std::string file;
  std::string output;
  std::string comment;
  std::string device = "host";
  LimitOptions limits;
  bool json = false;
  EvidenceOption evidence;
};

// A case to shrink, and how it was found.
struct Failing {
  Case c;
  Device recorded_on = Device::kHost;
  Role role = Role::kUser;
  RunLimits limits = {};
};

Failing failing_of(const SavedCase& saved) {
  if (const auto* finding = std::get_if<Finding>(&saved))
    return {finding->smallest, finding->device, finding->role, finding->limits};
  if (const auto* regression = std::get_if<Regression>(&saved))
    return {regression->c, regression->device, Role::kUser, regression->limits};
  return {.c = std::get<Case>(saved)};
}

// Reads a finding, a case, a regression, or what libFuzzer keeps (such as its crash files): a case as bytes. Text has
// no zero bytes; a case's bytes always have.
Failing read_failing(const std::string& path) {
  const std::string content = read_input(path);
  if (content.find('\0') == std::string::npos) {
    const auto saved = parse_saved_case(content);
    if (const auto* error = std::get_if<std::string>(&saved)) throw UsageError{fmt::format("{}: {}", path, *error)};
    return failing_of(std::get<SavedCase>(saved));
  }
  const std::vector<uint8_t> bytes(content.begin(), content.end());
  const Case c = decode(bytes);
  if (const std::string error = validate(c); !error.empty()) {
    throw UsageError{fmt::format("{}: the bytes are no valid case: {}", path, error)};
  }
  return {.c = c};
}

std::string kept_text(const Examination& e) {
  const auto& overflow = e.prediction.first_overflow;
  return fmt::format("{}, {}, path {}, index type {}, expression {}, verdict {}{}", name_of(e.c.operation),
                     e.c.implementation.name(), name_of(e.observed.path),
                     e.observed.index_type ? name_of(*e.observed.index_type) : "none",
                     name_of(overflow ? overflow->overflow.expression : Expression::kNone), name_of(e.observed.verdict),
                     e.differences.empty() ? "" : " (not as predicted)");
}

}  // namespace

void add_shrink(CLI::App& app, int& status) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("shrink", "look for the simplest case that fails as a finding or a case does, and keep it");
  command->add_option("file", options->file, "a finding or a case (JSON), or a crash file of libFuzzer")->required();
  command->add_option("-o,--output", options->output,
                      "a folder, or a file that ends in .json: write the regression there");
  command->add_option("--comment", options->comment, "a comment in the regression, such as a report's address");
  command->add_option("--device", options->device, "host or cuda");
  options->limits.add_to(*command);
  command->add_flag("--json", options->json, "the regression on standard output");
  options->evidence.add_to(*command);
  command->footer("The exit status is 0 where it was shrunk or does not fail at all, 3 where it was not executed.");
  command->callback([options, &status] {
    const Device device = parse_device(options->device);
    const Failing failing = read_failing(options->file);
    const Case c = on_device(failing.c, failing.recorded_on, device);
    Examiner examiner(device, options->limits.over(failing.limits), Isolation::kAlways);
    const auto ledger = options->evidence.open({"shrink", "", device, failing.role, c.seed, false});
    if (ledger) examiner.on_examination([&](const Examination& e) { ledger->append(e); });
    const Examination e = examiner.examine(c);
    if (e.observed.verdict == Verdict::kNotExecuted) {
      if (options->json) {
        print_json({{"shrunk", nullptr}, {"verdict", name_of(e.observed.verdict)}, {"reason", e.observed.reason}});
      } else {
        fmt::print("{}: not executed, so there is nothing to shrink: {}\n", options->file, e.observed.reason);
      }
      status = kExitNotExecuted;
      return;
    }
    if (findings(e, failing.role).empty()) {
      if (options->json) {
        print_json({{"shrunk", nullptr}, {"verdict", name_of(e.observed.verdict)}, {"reason", "does not fail"}});
      } else {
        fmt::print("{}: does not fail: {} is {}\n", options->file, describe(c), name_of(e.observed.verdict));
      }
      return;
    }
    const Shrunk shrunk = shrink(examiner, e, failing.role);
    Regression regression = regression_of(shrunk, c, device);
    regression.comment = options->comment;
    if (options->json) {
      fmt::print("{}", to_text(regression));
    } else {
      fmt::print("shrunk from {}\n{}", describe(c), describe(shrunk.smallest));
      fmt::print("  kept: {}\n  {} run{}\n", kept_text(shrunk.smallest), shrunk.runs, shrunk.runs == 1 ? "" : "s");
      fmt::print("  repeat: {}\n", repeat_command(shrunk.smallest, device));
    }
    std::fflush(stdout);  // it is known now, even where it cannot be written
    if (std::string path = options->output; !path.empty()) {
      if (const std::string error = write_regression(regression, path); !error.empty()) throw UsageError{error};
      if (!options->json) fmt::print("  written: {}\n", path);
    }
    require_written(ledger.get());
  });
}

}  // namespace brink
