#include "tools/brink/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace brink {

Progress::Progress(std::optional<double> seconds)
    : limit_(seconds), terminal_(isatty(STDERR_FILENO) == 1), last_(std::chrono::steady_clock::now()) {}

void Progress::show(const CheckReport& report) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10))) return;
  last_ = now;
  const double rate = report.seconds > 0 ? static_cast<double>(report.examined) / report.seconds : 0;
  double left = rate > 0 ? static_cast<double>(report.planned - report.examined) / rate : 0;
  if (limit_) left = std::min(left, std::max(0.0, *limit_ - report.seconds));
  const std::string line =
      fmt::format("{}/{} cases, {:.0f}/s, {} cells reached, {} findings, {:.0f} s left", report.examined,
                  report.planned, rate, report.reached.size(), report.findings.size(), left);
  fmt::print(stderr, "{}{}{}", terminal_ ? "\r\033[K" : "", line, terminal_ ? "" : "\n");
  std::fflush(stderr);
  shown_ = terminal_;
}

void Progress::finish() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

}  // namespace brink
