#include "properties/examine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "kernels/replicas/workspace.h"
#include "properties/windows.h"

namespace brink {

namespace {
constexpr double kPredictedHangSeconds = 5;

std::string direction_difference(const Case& c, const Decomposition& shape, OccupancyQuery& occupancy) {
  if (shape.numel() == 0 || c.implementation.rule == WidthRule::kFixed) return "";
  const auto one = dispatch(c.implementation, shape, c.operation, c.dtype, occupancy);
  const auto other = dispatch(c.implementation, shape, counterpart(c.operation), c.dtype, occupancy);
  const auto* a = std::get_if<Dispatch>(&one);
  const auto* b = std::get_if<Dispatch>(&other);
  if (a == nullptr || b == nullptr) return "";
  if (a->index_type == b->index_type && a->sized.path == b->sized.path) return "";
  return fmt::format("{} takes {} {}, {} takes {} {}", name_of(c.operation), name_of(a->sized.path),
                     name_of(a->index_type), name_of(counterpart(c.operation)), name_of(b->sized.path),
                     name_of(b->index_type));
}

}  // namespace

std::vector<std::string> findings(const Examination& e, Role role) {
  std::vector<std::string> lines;
  if (!e.direction_difference.empty()) lines.push_back(e.direction_difference);
  if (e.observed.verdict == Verdict::kNotExecuted) return lines;
  lines.insert(lines.begin(), e.differences.begin(), e.differences.end());
  // A dispatched kernel has no excuse, whoever asks; a fixed-width one of brink's own is a known defect.
  const bool must_be_right = role == Role::kUser || e.c.implementation.chooses_safely();
  if (!must_be_right) return lines;
  if (e.observed.verdict != Verdict::kOk) {
    lines.push_back(fmt::format("{} is {}", e.c.implementation.name(), name_of(e.observed.verdict)));
  } else if (e.prediction.verdict != Verdict::kOk && e.differences.empty()) {
    lines.push_back(fmt::format("{} was predicted to be {}", e.c.implementation.name(), name_of(e.prediction.verdict)));
  }
  return lines;
}

std::string repeat_command(const Examination& e, Device device) {
  return repeat_command(e.c, name_of(device)) + limit_options(limits_behind(e.limits, e.observed.verdict));
}

Prediction Examiner::predict(const Case& c, Engine engine) {
  DeviceOccupancy occupancy(device_, c.implementation, worker_);
  return brink::predict(c, occupancy, engine);
}

Examination Examiner::examine(const Case& c, std::optional<Prediction> known) {
  const auto start = std::chrono::steady_clock::now();
  Examination e;
  e.c = c;
  e.limits = limits_;
  e.shape = std::get<Decomposition>(decompose(c));
  run(e, std::move(known));
  e.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (on_examination_) on_examination_(e);
  return e;
}

// Predicts, executes and compares the case of `e`.
void Examiner::run(Examination& e, std::optional<Prediction> known) {
  const Case& c = e.c;
  if (device_ == Device::kCuda && e.shape.numel() != 0) {
    if (const std::string reason = worker_.unavailable(); !reason.empty()) {
      e.prediction.reason = e.execution.raw.reason = reason;
      e.prediction.path = path_of(e.shape);
      e.observed = e.prediction;
      return;
    }
  }
  if (device_ == Device::kCuda) e.device_name = worker_.device_name();
  const auto start = std::chrono::steady_clock::now();
  e.prediction = known ? std::move(*known) : predict(c);
  e.predict_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  DeviceOccupancy occupancy(device_, c.implementation, worker_);
  e.direction_difference = direction_difference(c, e.shape, occupancy);
  if (e.shape.numel() == 0) {
    e.observed = e.prediction;
    return;
  }
  const auto windows = choose_windows(c, e.shape, e.prediction);
  const Verdict predicted = e.prediction.verdict;
  // A narrow loop is stopped by its count; in dense memory it may fault first.
  const bool scaled_hang = predicted == Verdict::kHang && c.implementation.scaled() && c.memory != MemoryKind::kDense;
  const bool dangerous = isolation_ == Isolation::kAlways || workspace_bytes(c.implementation, e.shape) > 0 ||
                         (predicted == Verdict::kHang && !scaled_hang) || predicted == Verdict::kFault;
  // What is predicted to hang need not have the whole of a limit that is meant for slow kernels.
  RunLimits limits = limits_;
  if (predicted == Verdict::kHang) limits.seconds = std::min(limits.seconds, kPredictedHangSeconds);
  e.execution =
      device_ == Device::kHost && !dangerous ? execute_on_host(c, windows) : worker_.execute(c, windows, limits);
  e.observed = outcome_of(c, e.shape, e.prediction, e.execution);
  e.differences = differences(c, e.shape, e.prediction, e.execution, e.observed);
}

}  // namespace brink
