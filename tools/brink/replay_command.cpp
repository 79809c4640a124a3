#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "properties/replay.h"
#include "properties/whole_file.h"
#include "tools/brink/commands.h"
#include "tools/brink/options.h"

namespace brink {

namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> paths;
  std::string device = "host";
  LimitOptions limits;
  bool json = false;
  EvidenceOption evidence;
};

// The files that are meant: a file itself, a folder's *.json and those of its folders, in the order of their names.
std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const size_t before = files.size();
    for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      // Shapes of other people's tests, for brink audit: no cases.
      if (it->is_directory() && it->path().filename() == "audits") it.disable_recursion_pending();
      if (it->is_regular_file() && it->path().extension() == ".json") files.push_back(it->path().string());
    }
    if (error) throw UsageError{fmt::format("{}: {}", path, error.message())};
    if (files.size() == before) throw UsageError{fmt::format("{}: holds no *.json file", path)};
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

struct Entry {
  std::string path;
  std::string broken;  ///< why it cannot be read
  Replayed replayed;

  std::string_view result() const {
    if (!broken.empty()) return "broken";
    if (!replayed.problems.empty()) return "failed";
    return replayed.not_executed.empty() ? "ok" : "not_executed";
  }
};

Entry replay_file(Examiner& examiner, const std::string& path, const ChooseLimits& limits) {
  Entry entry{path, "", {}};
  std::string text;
  if (const std::string error = read_whole(path, text); !error.empty()) {
    entry.broken = error;
    return entry;
  }
  const auto saved = parse_saved_case(text);
  if (const auto* error = std::get_if<std::string>(&saved)) {
    entry.broken = fmt::format("{}: {}", path, *error);
  } else {
    entry.replayed = replay(examiner, std::get<SavedCase>(saved), limits);
  }
  return entry;
}

void print_entry(const Entry& entry) {
  if (!entry.broken.empty()) {
    std::fflush(stdout);
    fmt::print(stderr, "brink: {}\n", entry.broken);
    return;
  }
  fmt::print("{:<13}{} ({} run{})\n", entry.result(), entry.path, entry.replayed.runs,
             entry.replayed.runs == 1 ? "" : "s");
  for (const std::string& line : entry.replayed.problems) fmt::print("  {}\n", line);
  for (const std::string& line : entry.replayed.not_executed) fmt::print("  not executed: {}\n", line);
  for (const std::string& line : entry.replayed.repeats) fmt::print("  repeat: {}\n", line);
  std::fflush(stdout);
}

}  // namespace

void add_replay(CLI::App& app, int& status) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("replay", "run saved cases, findings and regressions again");
  command->add_option("paths", options->paths, "files, or folders whose *.json files are meant")->required();
  command->add_option("--device", options->device, "host or cuda");
  options->limits.add_to(*command);
  command->add_flag("--json", options->json, "JSON on standard output");
  options->evidence.add_to(*command);
  command->footer(
      "The exit status is 1 where one is not as it must be, else 2 where a file is broken, else 3 where something was "
      "not executed, else 0.");
  command->callback([options, &status] {
    const Device device = parse_device(options->device);
    Examiner examiner(device, {}, Isolation::kAlways);
    const ChooseLimits limits = [&](const RunLimits& saved) { return options->limits.over(saved); };
    limits({});  // says now where an option is wrong
    // What is replayed is known: it has to do what it did.
    const auto ledger = options->evidence.open({"replay", "", device, Role::kSelfCheck, 0, true});
    if (ledger) examiner.on_examination([&](const Examination& e) { ledger->append(e); });
    std::map<std::string_view, int64_t> counts;
    auto json = nlohmann::ordered_json::array();
    for (const std::string& path : files_of(options->paths)) {
      const Entry entry = replay_file(examiner, path, limits);
      ++counts[entry.result()];
      if (options->json) {
        json.push_back({{"file", path},
                        {"result", entry.result()},
                        {"runs", entry.replayed.runs},
                        {"error", entry.broken},
                        {"problems", entry.replayed.problems},
                        {"not_executed", entry.replayed.not_executed},
                        {"repeat", entry.replayed.repeats}});
      } else {
        print_entry(entry);
      }
    }
    status = counts["failed"] > 0         ? kExitFinding
             : counts["broken"] > 0       ? kExitUsage
             : counts["not_executed"] > 0 ? kExitNotExecuted
                                          : kExitOk;
    if (options->json) {
      print_json(nlohmann::ordered_json{{"files", json}, {"exit_status", status}});
    } else {
      fmt::print("{} ok, {} failed, {} broken, {} not executed\n", counts["ok"], counts["failed"], counts["broken"],
                 counts["not_executed"]);
    }
    require_written(ledger.get());
  });
}

}  // namespace brink
