#include <fmt/format.h>

#include <memory>

#include "tools/brink/commands.h"
#include "tools/brink/options.h"
#include "tools/brink/text.h"

namespace brink {

void add_run(CLI::App& app, int& status) {
  struct Options {
    CaseOptions the_case;
    std::string device = "host";
    LimitOptions limits;
    bool json = false;
    EvidenceOption evidence;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("run", "run one case: prediction beside observation");
  options->the_case.add_to(*command);
  command->add_option("--device", options->device, "host or cuda");
  options->limits.add_to(*command);
  command->add_flag("--json", options->json, "JSON on standard output");
  options->evidence.add_to(*command);
  command->footer(
      "The exit status is the verdict: 0 ok, 1 a defect or a prediction that did not hold, 3 not executed.");
  command->callback([options, &status] {
    const Device device = parse_device(options->device);
    const Case c = options->the_case.to_case(device);
    Examiner examiner(device, options->limits.over({}));
    const auto ledger = options->evidence.open({"run", "", device, Role::kUser, c.seed, true});
    if (ledger) examiner.on_examination([&](const Examination& e) { ledger->append(e); });
    const Examination e = examiner.examine(c);
    if (options->json) {
      print_json(to_json(e, Role::kUser));
    } else {
      fmt::print("{}", describe(e));
    }
    if (e.observed.verdict == Verdict::kNotExecuted) {
      status = kExitNotExecuted;
    } else if (!findings(e, Role::kUser).empty()) {
      status = kExitFinding;
      if (!options->json) fmt::print("  repeat: {}\n", repeat_command(e, device));
    }
    require_written(ledger.get());
  });
}

}  // namespace brink
