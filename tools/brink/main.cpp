#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tools/brink/commands.h"
#include "tools/brink/corpus_merge.h"
#include "tools/brink/options.h"

namespace {

int run(int argc, char** argv) {
  try {
    CLI::App app("brink: finds the shapes that push a GPU kernel's offsets over the edge of its index type", "brink");
    app.require_subcommand(1);
    // One line, where CLI11's own has two.
    app.failure_message([](const CLI::App* a, const CLI::Error& e) {
      const std::vector<std::string> unknown = a->remaining();
      const bool unknown_command = dynamic_cast<const CLI::RequiredError*>(&e) != nullptr && !unknown.empty();
      return unknown_command ? fmt::format("brink: unknown command \"{}\"; see brink --help\n", unknown.front())
                             : fmt::format("brink: {}\n", e.what());
    });
    app.set_version_flag("--version", BRINK_VERSION);
    app.footer("Exit status: 0 ok, 1 a finding, 2 bad usage or input, 3 something required was not executed.");
    int status = brink::kExitOk;
    brink::add_check(app, status);
    brink::add_predict(app, status);
    brink::add_run(app, status);
    brink::add_shrink(app, status);
    brink::add_replay(app, status);
    brink::add_fuzz(app, status);
    brink::add_launch(app, status);
    brink::add_list(app, status);
    brink::add_report(app, status);
    brink::add_plan(app, status);
    brink::add_audit(app, status);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      const int code = app.exit(e);
      return code == 0 ? brink::kExitOk : brink::kExitUsage;
    }
    return status;
  } catch (const brink::UsageError& e) {
    fmt::print(stderr, "brink: {}\n", e.message);
  } catch (const brink::NotExecuted& e) {
    fmt::print(stderr, "brink: {}\n", e.message);
    return brink::kExitNotExecuted;
  } catch (const std::exception& e) {
    fmt::print(stderr, "brink: {}\n", e.what());
  }
  return brink::kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (brink::is_corpus_merge(argv[0])) return brink::run_corpus_merge(argc, argv);
    const int status = run(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fputs("brink: the output could not be written\n", stderr);
    return brink::kExitUsage;
  } catch (...) {
    std::fputs("brink: an unknown error\n", stderr);
    return brink::kExitUsage;
  }
}
