#include "properties/run_limits.h"

#include <fmt/format.h>

namespace brink {

RunLimits limits_behind(const RunLimits& limits, Verdict verdict) {
  RunLimits result;
  if (verdict == Verdict::kHang) result.seconds = limits.seconds;
  if (verdict == Verdict::kOutOfMemory) result.memory = limits.memory;
  return result;
}

std::string limit_options(const RunLimits& limits) {
  const RunLimits usual;
  std::string text;
  if (limits.seconds != usual.seconds) text += fmt::format(" --limit {}", limits.seconds);
  if (limits.memory != usual.memory) text += fmt::format(" --memory-limit {}", limits.memory);
  return text;
}

}  // namespace brink
