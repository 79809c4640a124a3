#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/brink/fuzz_job.h"

namespace brink {

/// How a fuzzing run stands, for whoever shows it.
struct FuzzStatus {
  FuzzSummary summary;
  double seconds = 0;    ///< of this session
  int64_t executed = 0;  ///< cases of this session, known at its end
  std::optional<double> seconds_left;
  std::map<std::string, double> rates;  ///< job -> cases per second in this session
  int restarts = 0;                     ///< of jobs that ended before their time
};

/// While it lives, SIGTERM and SIGINT ask for an orderly end: supervise() returns soon.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  struct sigaction term_ = {};
  struct sigaction int_ = {};
};

/// Runs jobs in processes of their own until the time is up, a signal asks for an end, or none is left that can go on.
/// A job that dies is started again, and goes on with what it had. `show` is called about once a second. Leaves no
/// process behind.
FuzzStatus supervise(const std::vector<FuzzJob>& jobs, std::optional<double> seconds,
                     const std::function<void(const FuzzStatus&)>& show);

}  // namespace brink
