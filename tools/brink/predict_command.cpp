#include <fmt/format.h>

#include <memory>

#include "tools/brink/commands.h"
#include "tools/brink/options.h"
#include "tools/brink/text.h"

namespace brink {

void add_predict(CLI::App& app, int& /*status*/) {
  struct Options {
    CaseOptions the_case;
    std::string device = "host";
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("predict", "say what a case will corrupt, without running it");
  options->the_case.add_to(*command);
  command->add_option("--device", options->device, "the device whose launch sizing counts: host or cuda");
  command->add_flag("--json", options->json, "JSON on standard output");
  command->callback([options] {
    const Device device = parse_device(options->device);
    const Case c = options->the_case.to_case(device);
    Examiner examiner(device);
    if (device == Device::kCuda) {
      if (const std::string reason = examiner.worker().unavailable(); !reason.empty()) {
        throw UsageError{"--device cuda: " + reason};
      }
    }
    const Prediction prediction = examiner.predict(c);
    if (options->json) {
      nlohmann::ordered_json j;
      j["case"] = nlohmann::ordered_json::parse(to_text(c));
      j["prediction"] = to_json(static_cast<const Outcome&>(prediction));
      print_json(j);
    } else {
      fmt::print("{}", describe(c, std::get<Decomposition>(decompose(c)), prediction));
    }
  });
}

}  // namespace brink
