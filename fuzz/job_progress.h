#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>

namespace brink {

/// What one job of a fuzzing run has done so far, over all of its sessions. Its text form is a JSON object, version 1.
struct JobProgress {
  std::string device;  ///< in words
  int64_t cases = 0;
  int64_t executed = 0;
  double seconds = 0;
  int64_t sessions = 0;
  int64_t worker_ends = 0;  ///< cases that ended their worker process
  std::map<std::string, int64_t> verdicts;
  std::map<std::string, int64_t> not_executed;  ///< reason -> cases
  std::set<std::string> cells;                  ///< reached, as text
  std::string trouble;                          ///< why the job stopped before its time; empty where it did not
};

/// Sums up; the troubles are joined.
void add_to(JobProgress& total, const JobProgress& part);

std::string to_text(const JobProgress& progress);
/// The error is one line.
std::variant<JobProgress, std::string> parse_job_progress(std::string_view text);
/// Reads the file at `path`; where there is none, `progress` stays as it is. Returns what is wrong with it, or an empty
/// string.
std::string load(const std::string& path, JobProgress& progress);

}  // namespace brink
