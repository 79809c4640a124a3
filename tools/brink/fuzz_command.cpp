#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "properties/cell.h"
#include "tools/brink/commands.h"
#include "tools/brink/corpus_merge.h"
#include "tools/brink/fuzz_supervisor.h"
#include "tools/brink/options.h"

namespace brink {

namespace {

struct Options {
  std::string corpus;
  std::string time;
  std::string gpus;
  int jobs = 0;
  std::vector<std::string> implementations;
  std::vector<std::string> operations;
  std::vector<std::string> memories;
  uint64_t seed = 0;
  double limit = 60;
  std::string memory_limit = "4GiB";
  std::string node;
  bool json = false;
  EvidenceOption evidence;
};

// One supervisor a node and folder: two would write each other's files. A file server keeps the lock of a machine that
// died for a while, and the task that takes its place has to wait that long: `wait_seconds`.
class FolderLock {
 public:
  FolderLock(const std::string& path, double wait_seconds)
      : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (fd_ < 0) throw UsageError{fmt::format("{}: {}", path, std::strerror(errno))};
    constexpr double kStep = 0.5;
    for (double waited = 0; flock(fd_, LOCK_EX | LOCK_NB) != 0; waited += kStep) {
      if (errno != EWOULDBLOCK) {
        fmt::print(stderr, "brink: {}: {}; two runs under one name would not be noticed\n", path, std::strerror(errno));
        return;
      }
      if (waited >= wait_seconds) {
        close(fd_);
        throw UsageError{fmt::format("{}: another brink fuzz runs here under this name; see --node", path)};
      }
      std::this_thread::sleep_for(std::chrono::duration<double>(kStep));
    }
  }
  ~FolderLock() { close(fd_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_;
};

// "all", or indices such as 0,2.
std::vector<int> gpu_list(const std::string& text) {
  Worker worker(Device::kCuda);
  if (const std::string reason = worker.unavailable(); !reason.empty()) {
    throw NotExecuted{fmt::format("--gpus {}: {}", text, reason)};
  }
  const int count = worker.device_count();
  std::vector<int> result;
  if (text == "all") {
    for (int i = 0; i < count; ++i) result.push_back(i);
    return result;
  }
  std::set<int64_t> seen;
  for (const int64_t index : parse_shape(text)) {
    if (index < 0 || index >= count) {
      throw UsageError{fmt::format("--gpus {}: there is no GPU {} ({} here)", text, index, count)};
    }
    if (seen.insert(index).second) result.push_back(static_cast<int>(index));
  }
  return result;
}

// What CUDA_VISIBLE_DEVICES has to be for the i-th of the GPUs that are visible now.
std::string visible_gpu(int index) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr || *visible == '\0') return std::to_string(index);
  std::string_view rest = visible;
  for (int i = 0; i < index; ++i) {
    const size_t comma = rest.find(',');
    if (comma == std::string_view::npos) return std::to_string(index);
    rest.remove_prefix(comma + 1);
  }
  return std::string(rest.substr(0, rest.find(',')));
}

// What all jobs have in common.
FuzzJob to_job(const Options& options, const FuzzFolder& folder) {
  FuzzJob job;
  job.folder = folder;
  job.seed = options.seed;
  job.run_limits = {options.limit, bytes_option("--memory-limit", options.memory_limit)};
  job.device = options.gpus.empty() ? Device::kHost : Device::kCuda;
  job.limits.device = job.device;
  job.evidence = options.evidence;
  if (job.device == Device::kCuda) {
    std::erase_if(job.limits.implementations, [](const Implementation& i) { return i.scaled(); });
    job.limits.memories = {MemoryKind::kAliased};
  }
  if (!options.implementations.empty()) {
    job.role = Role::kUser;
    job.limits.implementations.clear();
    for (const std::string& name : options.implementations) {
      job.limits.implementations.push_back(implementation_option(name));
    }
  }
  if (!options.operations.empty()) {
    job.limits.operations.clear();
    for (const std::string& name : options.operations) job.limits.operations.push_back(operation_option(name));
  }
  if (!options.memories.empty()) {
    job.limits.memories.clear();
    for (const std::string& name : options.memories) job.limits.memories.push_back(memory_option(name));
  }
  return job;
}

std::vector<FuzzJob> to_jobs(FuzzJob job, const Options& options, const std::string& node) {
  std::vector<FuzzJob> jobs;
  const auto add = [&](const std::string& name) {
    job.name = fmt::format("{}-{}", node, name);
    job.seed = options.seed + hash_of(job.name);  // jobs on any number of nodes must not all draw the same cases
    jobs.push_back(job);
  };
  if (job.device == Device::kHost) {
    const int count =
        options.jobs > 0 ? options.jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    for (int i = 0; i < count; ++i) add(fmt::format("job{}", i));
    return jobs;
  }
  for (const int gpu : gpu_list(options.gpus)) {
    job.visible_gpu = visible_gpu(gpu);
    add(fmt::format("gpu{}", gpu));
  }
  return jobs;
}

/// Cells that this device can reach, as text.
std::set<std::string> reachable_cells(Device device) {
  std::set<std::string> result;
  for (const CellStatus& status : all_cells(device)) {
    if (status.reachable()) result.insert(to_text(status.cell));
  }
  return result;
}

int64_t count_reached(const std::set<std::string>& reached, const std::set<std::string>& reachable) {
  return std::count_if(reached.begin(), reached.end(),
                       [&](const std::string& cell) { return reachable.count(cell) != 0; });
}

int64_t total(const std::map<std::string, int64_t>& counts) {
  int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

std::string clock_text(double seconds) {
  const auto s = static_cast<int64_t>(seconds);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

class Display {
 public:
  explicit Display(Device device) : device_(device), terminal_(isatty(STDERR_FILENO) == 1) {}

  /// Worked out when it is first asked for, as that takes a second or more: the jobs should be running by then.
  const std::set<std::string>& reachable() {
    if (!reachable_) reachable_ = reachable_cells(device_);
    return *reachable_;
  }

  void show(const FuzzStatus& status) {
    const auto now = std::chrono::steady_clock::now();
    if (shown_ && now - last_ < (terminal_ ? std::chrono::milliseconds(1000) : std::chrono::seconds(10))) return;
    last_ = now;
    shown_ = true;
    const FuzzSummary& summary = status.summary;
    double rate = 0;
    std::string by_job;
    for (const auto& [name, job_rate] : status.rates) {
      rate += job_rate;
      by_job += fmt::format(" {} {:.0f}/s", name, job_rate);
    }
    const std::string line = fmt::format(
        "{} {} cases, {:.0f}/s, {} of {} cells, {} findings, {} not executed{}{}", clock_text(status.seconds),
        summary.total.cases, rate, count_reached(summary.total.cells, reachable()), reachable().size(),
        summary.findings.size(), total(summary.total.not_executed),
        status.seconds_left ? fmt::format(", {} left", clock_text(*status.seconds_left)) : "",
        status.rates.size() > 1 ? fmt::format(" [{}]", by_job.substr(1)) : "");
    fmt::print(stderr, "{}{}{}", terminal_ ? "\r\033[K" : "", line, terminal_ ? "" : "\n");
    std::fflush(stderr);
  }

  void finish() {
    if (shown_ && terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  Device device_;
  bool terminal_;
  std::optional<std::set<std::string>> reachable_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

int exit_status(const FuzzSummary& summary) {
  if (!summary.findings.empty()) return kExitFinding;
  return summary.total.executed > 0 && summary.troubles.empty() ? kExitOk : kExitNotExecuted;
}

void print_summary(const FuzzSummary& summary, const FuzzFolder& folder, const std::set<std::string>& reachable,
                   const MergedCorpus& corpus) {
  const JobProgress& done = summary.total;
  for (const auto& [cause, finding] : summary.findings) {
    fmt::print("\nFINDING {} ({} case{})\n", cause, finding.count, finding.count == 1 ? "" : "s");
    for (const std::string& line : finding.lines) fmt::print("  {}\n", line);
    fmt::print("  file: {}/{}.json\n", folder.findings(), file_name_of(cause));
    fmt::print("  repeat: {}\n", repeat_command(finding));
  }
  if (!summary.findings.empty()) fmt::print("\n");
  fmt::print("{} cases in {} of {} job{}, {:.0f}/s: {} executed, {} findings\n", done.cases, clock_text(done.seconds),
             summary.jobs.size(), summary.jobs.size() == 1 ? "" : "s",
             static_cast<double>(done.cases) / std::max(done.seconds, 1e-3), done.executed, summary.findings.size());
  for (const auto& [verdict, count] : done.verdicts) fmt::print("  {:<16} {}\n", verdict, count);
  fmt::print("cells: {} of {} reachable on this device\n", count_reached(done.cells, reachable), reachable.size());
  for (const auto& [reason, count] : done.not_executed) fmt::print("not executed: {} cases: {}\n", count, reason);
  if (done.worker_ends > 0) fmt::print("{} cases ended their worker process\n", done.worker_ends);
  if (corpus.merged) fmt::print("corpus: {} cases, {} of them kept by the merge\n", corpus.before, corpus.after);
  for (const std::string& skipped : corpus.skipped) fmt::print("not a case, left as it is: {}\n", skipped);
  for (const std::string& trouble : summary.troubles) fmt::print("TROUBLE {}\n", trouble);
  const int status = exit_status(summary);
  fmt::print("{}\n", status == kExitOk        ? "OK"
                     : status == kExitFinding ? fmt::format("FAILED: {} findings", summary.findings.size())
                                              : "NOT EXECUTED: nothing was run, or a job could not go on");
}

nlohmann::ordered_json summary_json(const FuzzSummary& summary, const FuzzFolder& folder,
                                    const std::set<std::string>& reachable, const MergedCorpus& corpus) {
  using Json = nlohmann::ordered_json;
  const JobProgress& done = summary.total;
  Json j;
  j["cases"] = done.cases;
  j["executed"] = done.executed;
  j["seconds"] = done.seconds;
  j["verdicts"] = done.verdicts;
  j["not_executed"] = done.not_executed;
  j["worker_ends"] = done.worker_ends;
  j["cells"] = {{"reached", count_reached(done.cells, reachable)}, {"reachable", reachable.size()}};
  j["corpus"] = names_in(folder.corpus()).size();
  if (corpus.merged) {
    j["merge"] = {{"before", corpus.before}, {"after", corpus.after}, {"skipped", corpus.skipped}};
  }
  j["jobs"] = Json::object();
  for (const auto& [name, job] : summary.jobs) {
    j["jobs"][name] = {{"device", job.device},   {"cases", job.cases},       {"executed", job.executed},
                       {"seconds", job.seconds}, {"sessions", job.sessions}, {"cells", job.cells.size()}};
  }
  j["findings"] = Json::array();
  for (const auto& [cause, finding] : summary.findings) {
    j["findings"].push_back({{"cause", cause},
                             {"count", finding.count},
                             {"file", fmt::format("{}/{}.json", folder.findings(), file_name_of(cause))},
                             {"repeat", repeat_command(finding)}});
  }
  j["troubles"] = summary.troubles;
  j["exit_status"] = exit_status(summary);
  return j;
}

int run(const Options& options) {
  const std::string node = options.node.empty() ? "local" : options.node;
  if (node.find('/') != std::string::npos) throw UsageError{fmt::format("--node {}: a name has no '/'", node)};
  if (options.corpus.empty()) throw UsageError{"--corpus: the folder has no name"};
  const FuzzFolder folder{options.corpus};
  for (const std::string& path : {folder.corpus(), folder.jobs(), folder.findings()}) {
    if (const std::string error = make_folder(path); !error.empty()) throw UsageError{error};
  }
  constexpr double kLeaseSeconds = 120;  // of NFS servers: 90 by default
  constexpr double kGraceSeconds = 5;    // until the jobs of a supervisor that was killed are gone
  const double wait_seconds = options.node.empty() ? kGraceSeconds : kLeaseSeconds;
  const FolderLock lock(fmt::format("{}/{}.lock", folder.jobs(), node), wait_seconds);
  std::optional<StopSignals> signals(std::in_place);
  std::optional<double> seconds;
  if (!options.time.empty()) seconds = parse_duration(options.time, true);
  const bool only_merge = seconds && *seconds == 0;
  FuzzJob common = to_job(options, folder);

  const Device device = options.gpus.empty() ? Device::kHost : Device::kCuda;
  options.evidence.open({});  // says so here where that fails
  Display display(device);
  FuzzSummary summary;
  if (only_merge) {
    summary = summarize(folder);
  } else {
    const std::vector<FuzzJob> jobs = to_jobs(std::move(common), options, node);
    for (const FuzzJob& job : jobs) {
      if (const std::string error = make_folder(folder.scratch(job.name)); !error.empty()) throw UsageError{error};
    }
    FuzzStatus ended = supervise(jobs, seconds, [&](const FuzzStatus& status) { display.show(status); });
    display.finish();
    summary = std::move(ended.summary);
    if (ended.executed == 0) summary.troubles.emplace_back("no case was executed in this session");
  }
  signals.reset();  // the merge may be ended at once: it leaves the corpus as it was
  if (const std::string error = write_findings(folder, summary.findings); !error.empty()) {
    summary.troubles.push_back(error);
  }
  MergedCorpus corpus;
  if (only_merge || options.node.empty()) {
    if (const std::string error = minimize_corpus(folder, device, corpus); !error.empty()) {
      summary.troubles.push_back(error);
    } else {
      corpus.merged = true;
    }
  }
  if (options.json) {
    print_json(summary_json(summary, folder, display.reachable(), corpus));
  } else {
    print_summary(summary, folder, display.reachable(), corpus);
  }
  return exit_status(summary);
}

}  // namespace

void add_fuzz(CLI::App& app, int& status) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("fuzz", "fuzz for hours: resumes, groups what it finds, survives what it meets");
  command->add_option("--corpus", options->corpus, "folder that holds everything; made if absent, taken up if not")
      ->required();
  command->add_option(
      "--time", options->time,
      "stop after this long, such as 90s, 10m or 8h (default: at SIGTERM or Ctrl-C); 0s: only merge the "
      "corpus and group the findings");
  command->add_option("--gpus", options->gpus, "all, or a list such as 0,2: one job each (default: jobs on the host)");
  command->add_option("--jobs", options->jobs, "jobs on the host (default: one for each core)")
      ->check(CLI::Range(1, 4096));
  command->add_option("--impl", options->implementations,
                      "test this implementation as a user's own (may be given several times). Without it brink tests "
                      "itself, as brink check does");
  command->add_option("--op", options->operations, "only this operation (may be given several times)");
  command->add_option("--memory", options->memories,
                      "sparse (host), aliased or dense (may be given several times; default: sparse on the host, "
                      "aliased on a GPU)");
  command->add_option("--seed", options->seed, "start of the random sequence")->check(check_not_negative);
  command->add_option("--limit", options->limit, "seconds until one case is a hang")->check(check_positive);
  command->add_option("--memory-limit", options->memory_limit, "host memory that one case may take, such as 4GiB");
  command->add_option("--node", options->node,
                      "this machine's name where several share the folder; merging is then left to a last --time 0s");
  options->evidence.add_to(*command);
  command->add_flag("--json", options->json, "the summary as JSON on standard output");
  command->footer("Progress goes to standard error. kill -9 at any moment loses nothing that was found.");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace brink
