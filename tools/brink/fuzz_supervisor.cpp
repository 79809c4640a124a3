#include "tools/brink/fuzz_supervisor.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

namespace brink {

namespace {

using Clock = std::chrono::steady_clock;

/// A job that ends this often without a case in between will not get any further.
constexpr int kVainStarts = 3;
constexpr double kStopSeconds = 8;  ///< from SIGTERM to SIGKILL
constexpr double kLookSeconds = 1;  ///< as often as the jobs write
/// Beyond the limit of a case: the context of a GPU, the oracle, slow disks.
constexpr double kSilenceSeconds = 180;

volatile sig_atomic_t stop_requested = 0;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Running {
  const FuzzJob* job;
  pid_t process = -1;
  int64_t cases_before = 0;  ///< of earlier sessions of this run's folder
  int64_t executed_before = 0;
  int64_t cases_at_start = 0;  ///< when this process was started
  int64_t cases_seen = 0;
  int vain_starts = 0;
  std::string ended = {};  ///< how it ended before its time, if it has run no case since
  Clock::time_point last_news = Clock::now();
};

std::string start(Running& running, std::optional<double> seconds_left) {
  FuzzJob job = *running.job;
  job.seconds = seconds_left;
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return fmt::format("no process for job {}: {}", job.name, std::strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    run_fuzz_job(job);
  }
  running.process = child;
  running.cases_at_start = running.cases_seen;
  running.last_news = Clock::now();
  return "";
}

bool has_ended(Running& running, int& status) {
  if (running.process < 0) return false;
  const pid_t ended = waitpid(running.process, &status, WNOHANG);
  if (ended != running.process) return false;
  running.process = -1;
  return true;
}

void stop_all(std::vector<Running>& all) {
  for (const Running& running : all) {
    if (running.process >= 0) kill(running.process, SIGTERM);
  }
  const auto begin = Clock::now();
  bool killed = false;
  while (true) {
    bool any = false;
    for (Running& running : all) {
      int status = 0;
      if (running.process >= 0 && !has_ended(running, status)) any = true;
    }
    if (!any) return;
    if (!killed && seconds_since(begin) > kStopSeconds) {
      for (const Running& running : all) {
        if (running.process >= 0) kill(running.process, SIGKILL);
      }
      killed = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("status {}", WEXITSTATUS(status));
}

}  // namespace

StopSignals::StopSignals() {
  stop_requested = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { stop_requested = 1; };
  sigaction(SIGTERM, &action, &term_);
  sigaction(SIGINT, &action, &int_);
}

StopSignals::~StopSignals() {
  sigaction(SIGTERM, &term_, nullptr);
  sigaction(SIGINT, &int_, nullptr);
}

FuzzStatus supervise(const std::vector<FuzzJob>& jobs, std::optional<double> seconds,
                     const std::function<void(const FuzzStatus&)>& show) {
  const auto begin = Clock::now();
  FuzzStatus status;
  std::vector<Running> all;
  std::map<std::string, std::string> given_up;
  const FuzzFolder folder = jobs.front().folder;
  status.summary = summarize(folder);
  for (const FuzzJob& job : jobs) {
    Running running{&job};
    running.cases_before = running.cases_seen = status.summary.jobs[job.name].cases;
    running.executed_before = status.summary.jobs[job.name].executed;
    all.push_back(running);
  }
  const auto left = [&]() -> std::optional<double> {
    if (!seconds) return std::nullopt;
    return std::max(0.0, *seconds - seconds_since(begin));
  };
  for (Running& running : all) {
    if (std::string error = start(running, left()); !error.empty()) given_up[running.job->name] = error;
  }
  auto last_look = begin;
  while (stop_requested == 0 && (!seconds || *left() > 0)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::map<std::string, int> ended;  // job -> wait status
    for (Running& running : all) {
      int wait_status = 0;
      if (has_ended(running, wait_status)) ended[running.job->name] = wait_status;
    }
    if (ended.empty() && seconds_since(last_look) < kLookSeconds) continue;
    last_look = Clock::now();
    status.summary = summarize(folder);
    bool any = false;
    for (Running& running : all) {
      const std::string& name = running.job->name;
      const int64_t cases = status.summary.jobs[name].cases;
      if (cases != running.cases_seen) {
        running.cases_seen = cases;
        running.last_news = Clock::now();
        running.ended.clear();
      }
      if (running.process >= 0 &&
          seconds_since(running.last_news) > running.job->run_limits.seconds + kSilenceSeconds) {
        kill(running.process, SIGKILL);
      }
      if (const auto end = ended.find(name); end != ended.end() && stop_requested == 0 && (!seconds || *left() > 0)) {
        ++status.restarts;
        running.vain_starts = running.cases_seen == running.cases_at_start ? running.vain_starts + 1 : 0;
        const std::string& trouble = status.summary.jobs[name].trouble;
        const std::string how = trouble.empty() ? how_it_ended(end->second) : trouble;
        fmt::print(stderr, "brink: job {} ended: {}\n", name, how);
        running.ended = how;
        if (running.vain_starts >= kVainStarts) {
          given_up[name] = how;
        } else if (std::string error = start(running, left()); !error.empty()) {
          given_up[name] = error;
        }
      }
      any = any || running.process >= 0;
      status.rates[name] =
          static_cast<double>(running.cases_seen - running.cases_before) / std::max(seconds_since(begin), 1e-3);
    }
    status.seconds = seconds_since(begin);
    status.seconds_left = left();
    write_findings(folder, status.summary.findings);
    show(status);
    if (!any) break;
  }
  stop_all(all);
  status.summary = summarize(folder);
  for (const Running& running : all) {
    const std::string& name = running.job->name;
    status.executed += status.summary.jobs[name].executed - running.executed_before;
    if (const auto reason = given_up.find(name); reason != given_up.end()) {
      status.summary.troubles.push_back(fmt::format("job {} was given up: {}", name, reason->second));
    } else if (!running.ended.empty() && status.summary.jobs[name].cases == running.cases_seen) {
      status.summary.troubles.push_back(fmt::format("job {} ended and ran nothing more: {}", name, running.ended));
    }
  }
  status.seconds = seconds_since(begin);
  return status;
}

}  // namespace brink
