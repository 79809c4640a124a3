#pragma once

#include <cstdint>
#include <string>

#include "properties/outcome.h"

namespace brink {

/// What one run in a worker process may take.
struct RunLimits {
  double seconds = 60;                ///< beyond it the run is a hang
  int64_t memory = int64_t{8} << 30;  ///< bytes of host memory, beyond which it is out of memory

  bool operator==(const RunLimits&) const = default;
};

/// The usual limits but for the one that gave the verdict.
RunLimits limits_behind(const RunLimits& limits, Verdict verdict);

/// Options of `brink run` for limits that are not the usual ones, each with a space before it.
std::string limit_options(const RunLimits& limits);

}  // namespace brink
