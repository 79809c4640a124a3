#include "tools/brink/fuzz_job.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>

#include "fuzz/boundary_counters.h"
#include "fuzz/case_bytes.h"
#include "fuzz/custom_mutator.h"
#include "properties/cell.h"
#include "properties/whole_file.h"
#include "tools/brink/libfuzzer.h"

namespace brink {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxBytes = 256;  ///< of a case: enough for 29 dimensions
constexpr double kPublishSeconds = 1;
constexpr double kImportSeconds = 5;
/// A cause that ends the worker each time is run this often; later cases with it are predicted only.
constexpr int64_t kKnownEndings = 3;

volatile sig_atomic_t stop_requested = 0;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

bool is_ending(Verdict v) { return v == Verdict::kHang || v == Verdict::kFault || v == Verdict::kOutOfMemory; }

std::string expected_cause(const Case& c, const Prediction& p) {
  Examination e;
  e.c = c;
  e.prediction = p;
  e.observed = p;
  return cause_of(e);
}

class Session {
 public:
  explicit Session(const FuzzJob& job)
      : job_(job),
        examiner_(job.device, job.run_limits, Isolation::kAlways),
        findings_(job.folder.job(job.name) + "/findings.json"),
        limits_(job.limits) {
    if (job.device == Device::kCuda) {
      limits_.occupancy = std::make_shared<DeviceOccupancy>(job.device, Implementation(), examiner_.worker());
    }
  }

  // Takes up what an earlier session left. Throws what went wrong, as text.
  void resume() {
    require(load(progress_path(), progress_));
    loaded_ = true;
    require(findings_.load());
    ledger_ = job_.evidence.open({"fuzz", "", job_.device, job_.role, job_.seed, false});
    if (ledger_) examiner_.on_examination([this](const Examination& e) { ledger_->append(e); });
    ++progress_.sessions;
    progress_.trouble.clear();
    progress_.device = job_.device == Device::kHost ? "host" : examiner_.worker().description();
    earlier_seconds_ = progress_.seconds;
    publish();  // what the last session could not
    std::error_code error;
    fs::remove_all(job_.folder.scratch(job_.name), error);
    require(make_folder(job_.folder.scratch(job_.name)));
    published_.clear();
    import();
    if (published_.empty()) {
      // libFuzzer's own first input, an empty one, may stand for a case outside the limits; it needs one that counts.
      Draws draws(session_seed());
      put_in_scratch("first", mutate(Case(), draws, limits_));
    }
    save();
  }

  const MutationLimits& limits() const { return limits_; }
  uint64_t session_seed() const { return job_.seed + static_cast<uint64_t>(progress_.sessions) * 1000003; }

  void run(const uint8_t* data, size_t size) {
    if (stop_requested != 0 || (job_.seconds && seconds_since(start_) >= *job_.seconds)) finish();
    if (seconds_since(last_publish_) >= kPublishSeconds) {
      publish();
      if (seconds_since(last_import_) >= kImportSeconds) import();
      save();
      last_publish_ = Clock::now();
    }
    const Case c = decode({data, size});
    if (!refusal_of(c, limits_).empty()) return;
    ++progress_.cases;
    Prediction prediction = examiner_.predict(c);
    set_counters(planned_counters(c, prediction));
    if (is_ending(prediction.verdict)) {
      const auto known = findings_.groups().find(expected_cause(c, prediction));
      if (known != findings_.groups().end() && known->second.count >= kKnownEndings) {
        skip(c, std::move(prediction), fmt::format("predicted to end as \"{}\" does, which was found", known->first));
        return;
      }
    }
    record(examiner_.examine(c, std::move(prediction)));
    if (ledger_) require(ledger_->error());
  }

  [[noreturn]] void finish() {
    publish();
    save();
    _exit(0);
  }

  [[noreturn]] void give_up(const std::string& why) {
    fmt::print(stderr, "\nbrink: {}\n", why);
    progress_.trouble = why;
    progress_.seconds = earlier_seconds_ + seconds_since(start_);
    if (loaded_) write_whole(progress_path(), to_text(progress_));  // what cannot be read is not lost
    _exit(2);
  }

  static void require(const std::string& error) {
    if (!error.empty()) throw error;
  }

 private:
  void skip(const Case& c, Prediction prediction, std::string reason) {
    ++progress_.not_executed[reason];
    if (!ledger_) return;
    Examination e;
    e.c = c;
    e.shape = std::get<Decomposition>(decompose(c));
    e.observed.path = prediction.path;
    e.observed.reason = e.execution.raw.reason = std::move(reason);
    e.prediction = std::move(prediction);
    ledger_->append(e);
    require(ledger_->error());
  }

  std::string progress_path() const { return job_.folder.job(job_.name) + "/progress.json"; }

  void record(const Examination& e) {
    const Verdict verdict = e.observed.verdict;
    ++progress_.verdicts[std::string(name_of(verdict))];
    if (verdict == Verdict::kNotExecuted) {
      ++progress_.not_executed[e.observed.reason];
      return;
    }
    ++progress_.executed;
    if (is_ending(verdict)) ++progress_.worker_ends;
    const std::vector<Cell> cells = cells_reached(e.c, e.shape, e.execution);
    set_counters(cell_counters(cells));
    for (const Cell& cell : cells) progress_.cells.insert(to_text(cell));
    std::vector<std::string> lines = findings(e, job_.role);
    if (!lines.empty()) require(findings_.add(finding_of(e, job_.device, job_.role, std::move(lines))));
  }

  // libFuzzer's new corpus entries become text cases that every job and machine can see.
  void publish() {
    const std::string scratch = job_.folder.scratch(job_.name);
    for (const std::string& name : names_in(scratch)) {
      if (!published_.insert(name).second) continue;
      std::string bytes;
      // A file that a killed process left unfinished decodes to another case, or to none.
      if (!read_whole(fmt::format("{}/{}", scratch, name), bytes).empty()) continue;
      const Case c = decode({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
      if (!refusal_of(c, limits_).empty()) continue;
      imported_.insert(corpus_name(c));
      require(keep(job_.folder, c));
    }
  }

  // The other jobs' entries, for libFuzzer to find in its own folder.
  void import() {
    last_import_ = Clock::now();
    for (const std::string& name : names_in(job_.folder.corpus())) {
      if (!imported_.insert(name).second) continue;
      std::string text;
      if (!read_whole(job_.folder.corpus() + "/" + name, text).empty()) continue;  // merged away meanwhile
      const auto parsed = parse_case(text);
      const Case* c = std::get_if<Case>(&parsed);
      if (c == nullptr) {
        fmt::print(stderr, "brink: corpus/{}: {}\n", name, std::get<std::string>(parsed));
        continue;
      }
      if (!refusal_of(*c, limits_).empty()) continue;
      put_in_scratch(name, *c);
    }
  }

  void put_in_scratch(const std::string& name, const Case& c) {
    const std::vector<uint8_t> bytes = encode(c);
    published_.insert(name);
    require(write_whole(job_.folder.scratch(job_.name) + "/" + name,
                        {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }

  void save() {
    progress_.seconds = earlier_seconds_ + seconds_since(start_);
    require(write_whole(progress_path(), to_text(progress_)));
  }

  const FuzzJob& job_;
  Examiner examiner_;
  FindingStore findings_;
  MutationLimits limits_;
  std::unique_ptr<Ledger> ledger_;
  JobProgress progress_;
  std::set<std::string> published_;  ///< names in scratch/ that need no look
  std::set<std::string> imported_;   ///< names in corpus/ that need no look
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_publish_ = start_;
  Clock::time_point last_import_ = start_;
  double earlier_seconds_ = 0;
  bool loaded_ = false;
};

// libFuzzer's callbacks carry no context.
Session* session = nullptr;

int run_bytes(const uint8_t* data, size_t size) {
  try {
    session->run(data, size);
  } catch (const std::string& error) {
    session->give_up(error);
  } catch (const std::exception& e) {
    session->give_up(e.what());
  }
  return 0;
}

}  // namespace

void run_fuzz_job(const FuzzJob& job) {
  send_output_to(job.folder.job(job.name) + "/log.txt");
  signal(SIGTERM, [](int) { stop_requested = 1; });
  signal(SIGINT, SIG_IGN);  // a terminal sends it to the whole group; the supervisor passes it on
  if (!job.visible_gpu.empty()) setenv("CUDA_VISIBLE_DEVICES", job.visible_gpu.c_str(), 1);
  Session current(job);
  session = &current;
  try {
    current.resume();
  } catch (const std::string& error) {
    current.give_up(error);
  } catch (const UsageError& error) {
    current.give_up(error.message);
  }
  mutate_as_cases(current.limits());
  // Time and memory limits are the worker's; this process runs no kernel.
  run_libfuzzer(
      {"brink", job.folder.scratch(job.name), fmt::format("-seed={}", current.session_seed() % 0x7fffffff + 1),
       fmt::format("-max_len={}", kMaxBytes), "-len_control=0", "-reduce_inputs=0", "-rss_limit_mb=0", "-timeout=0",
       "-handle_term=0", "-handle_int=0", "-detect_leaks=0", "-reload=1",
       fmt::format("-artifact_prefix={}/", job.folder.job(job.name))},
      run_bytes);
  current.give_up("libFuzzer ended by itself; see log.txt");
}

}  // namespace brink
