#pragma once

#include <chrono>
#include <optional>

#include "properties/check.h"

namespace brink {

/// Shows how far a check has come, on standard error: one line that rewrites itself on a terminal, elsewhere a plain
/// line every ten seconds.
class Progress {
 public:
  explicit Progress(std::optional<double> seconds);
  void show(const CheckReport& report);
  void finish();

 private:
  std::optional<double> limit_;
  bool terminal_;
  std::chrono::steady_clock::time_point last_;
  bool shown_ = false;
};

}  // namespace brink
