#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fuzz/case_mutation.h"
#include "fuzz/fuzz_folder.h"
#include "tools/brink/options.h"

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
  RunLimits run_limits;
  EvidenceOption evidence;
};

/// Fuzzes in this process until the time is up or SIGTERM comes, then ends the process. Everything it says goes to the
/// job's log; status 2 and the job's `trouble` say why it ended early.
[[noreturn]] void run_fuzz_job(const FuzzJob& job);

}  // namespace brink
