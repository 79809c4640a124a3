#pragma once

#include <optional>
#include <span>

#include "fuzz/target_options.h"

namespace brink {

/// Examines the cases that bytes stand for: predicts, runs, compares. Made once per process.
class OperationsTarget {
 public:
  /// Reads the command line; see target_options.h. On a GPU the process ends with status 3 where there is none.
  OperationsTarget(Device device, int argc, char** argv);

  /// The examined case, or nothing where the bytes stand for none within the limits. Where it is a finding, prints it
  /// and aborts.
  std::optional<Examination> run(std::span<const uint8_t> bytes);

  const MutationLimits& limits() const { return options_.limits; }

 private:
  Examiner examiner_;
  TargetOptions options_;
};

}  // namespace brink
