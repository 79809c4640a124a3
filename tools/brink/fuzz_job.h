#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fuzz/case_mutation.h"
#include "fuzz/fuzz_folder.h"

namespace brink {

/// One job of a fuzzing run: a libFuzzer session whose cases run in a worker process.
struct FuzzJob {
  FuzzFolder folder;
  std::string name;
  Device device = Device::kHost;
  std::string visible_gpu;  ///< value of CUDA_VISIBLE_DEVICES for the worker; empty: as it is
  uint64_t seed = 0;
  std::optional<double> seconds;
  Role role = Role::kSelfCheck;
  MutationLimits limits;
  double limit_seconds = 60;
  int64_t memory_limit = 0;  ///< bytes
};

/// Fuzzes in this process until the time is up or SIGTERM comes, then ends the process. Everything it says goes to the
/// job's log; status 2 and the job's `trouble` say why it ended early.
[[noreturn]] void run_fuzz_job(const FuzzJob& job);

/// Leaves in the corpus what libFuzzer's merge keeps: a smaller set that reaches all that the whole one did. Runs no
/// case: what a case reaches is predicted. Returns what went wrong, or an empty string.
std::string minimize_corpus(const FuzzFolder& folder, Device device, size_t& before, size_t& after);

/// libFuzzer runs the second step of a merge as a program of its own: this one, under another name.
bool is_corpus_merge(const char* program);
int run_corpus_merge(int argc, char** argv);

}  // namespace brink
