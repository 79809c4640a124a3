#include <fmt/format.h>

#include <memory>

#include "tools/brink/commands.h"
#include "tools/brink/options.h"

namespace brink {

void add_list(CLI::App& app, int& /*status*/) {
  CLI::App* command = app.add_subcommand("list", "list implementations, operations or cells");
  command->require_subcommand(1);
  command->add_subcommand("operations", "operations that can be tested")->callback([] {
    for (const Operation operation : kOperations) fmt::print("{}\n", name_of(operation));
  });
  command->add_subcommand("implementations", "ways to do an operation")->callback([] {
    for (const Implementation& i : all_implementations()) {
      const std::string type(name_of(i.index_type));
      std::string what;
      if (i.rule == WidthRule::kSafe) {
        what = fmt::format("{} where every address expression fits in it, i64 otherwise", type);
      } else if (i.rule == WidthRule::kNumel) {
        what = fmt::format("defect replica: {} where numel is below its largest value, i64 otherwise", type);
      } else {
        what = fmt::format("always {}{}", type, i.index_type == IndexType::kI64 ? "" : ": a known defect");
      }
      if (i.scaled()) what += "; a scale model";
      fmt::print("{:<16} {}\n", i.name(), what);
    }
  });
}

}  // namespace brink
