#include <fmt/format.h>

#include <memory>

#include "properties/cell.h"
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
      } else if (i.rule == WidthRule::kWorkspace) {
        what = "defect replica: dispatched, but takes 8 bytes of memory for each element of the tensor";
      } else if (i.rule == WidthRule::kNoLaunch) {
        what = "defect replica: dispatched, but returns success without launching its kernel";
      } else {
        what = fmt::format("always {}{}", type, i.index_type == IndexType::kI64 ? "" : ": a known defect");
      }
      if (i.scaled()) what += "; a scale model";
      if (i.build != Build::kPlain) what += "; short of registers";
      if (i.build == Build::kTornBarrier)
        what += "; defect replica: threads disagree about a barrier in reduced blocks";
      if (i.helper == LaunchHelper::kAskOnce) what += "; defect replica: its launches are sized by asking once";
      if (i.helper == LaunchHelper::kShrinkYOnly) what += "; defect replica: its launches shrink in y alone";
      if (i.helper == LaunchHelper::kStaleShared) what += "; defect replica: its shared memory stays the first block's";
      fmt::print("{:<26} {}\n", i.name(), what);
    }
  });
  struct CellOptions {
    std::string device = "host";
    bool all = false;
  };
  const auto cells = std::make_shared<CellOptions>();
  CLI::App* cell_command = command->add_subcommand("cells", "what coverage is counted in");
  cell_command->add_option("--device", cells->device, "host or cuda");
  cell_command->add_flag("--all", cells->all, "those that this device cannot reach as well, with the reason");
  cell_command->callback([cells] {
    for (const CellStatus& status : all_cells(parse_device(cells->device))) {
      if (status.reachable()) {
        fmt::print("{}\n", to_text(status.cell));
      } else if (cells->all) {
        fmt::print("{}  UNREACHABLE {}\n", to_text(status.cell), status.reason);
      }
    }
  });
}

}  // namespace brink
