#pragma once

#include <CLI/CLI.hpp>

namespace brink {

// One function a command: each adds its options to `app` and sets `status` when it has run.
void add_check(CLI::App& app, int& status);
void add_predict(CLI::App& app, int& status);
void add_run(CLI::App& app, int& status);
void add_shrink(CLI::App& app, int& status);
void add_replay(CLI::App& app, int& status);
void add_fuzz(CLI::App& app, int& status);
void add_launch(CLI::App& app, int& status);
void add_list(CLI::App& app, int& status);
void add_report(CLI::App& app, int& status);
void add_plan(CLI::App& app, int& status);
void add_audit(CLI::App& app, int& status);

}  // namespace brink
