#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "properties/cell.h"
#include "properties/comparison.h"
#include "properties/worker.h"

namespace brink {

/// One case, predicted, run and compared.
struct Examination {
  Case c;
  Decomposition shape;
  Prediction prediction;
  Execution execution;
  Outcome observed;
  double predict_seconds = 0;
  double seconds = 0;                    ///< all of it, the prediction too
  std::vector<std::string> differences;  ///< between prediction and observation; empty where they agree
  /// How the implementation treats the other direction differently, or empty: forward and backward see the same tensor,
  /// so they must take the same path and, where the width is chosen, the same width.
  std::string direction_difference;
  RunLimits limits;         ///< that it ran under
  std::string device_name;  ///< a GPU's; empty for the host, and where there is none
};

/// The command line that repeats the examination on `device`, with the limit that gave its verdict.
std::string repeat_command(const Examination& examination, Device device);

/// Called with each examination when it has ended.
using OnExamination = std::function<void(const Examination&)>;

/// Who the examined implementation belongs to. In its self-check brink knows its own defects: they must fail exactly as
/// predicted. A user's kernel must be right.
enum class Role { kSelfCheck, kUser };

constexpr std::string_view name_of(Role role) { return role == Role::kSelfCheck ? "self_check" : "user"; }

/// Why an examination is a finding: one line each; empty for what is as it should be, and for what was not executed.
std::vector<std::string> findings(const Examination& examination, Role role);

/// Which cases run in a worker process on the host; on a GPU all do.
enum class Isolation {
  kPredicted,  ///< those that may end the process or take its memory, going by the prediction
  kAlways,     ///< all: whatever an implementation does, the caller goes on
};

/// Examines cases on one device.
class Examiner {
 public:
  explicit Examiner(Device device, const RunLimits& limits = {}, Isolation isolation = Isolation::kPredicted)
      : worker_(device), device_(device), limits_(limits), isolation_(isolation) {}

  /// `c` must be valid. `known`: its prediction, where predict() was asked for it already.
  Examination examine(const Case& c, std::optional<Prediction> known = std::nullopt);
  Prediction predict(const Case& c, Engine engine = Engine::kAuto);
  Device device() const { return device_; }
  Worker& worker() { return worker_; }
  const RunLimits& limits() const { return limits_; }
  void set_limits(const RunLimits& limits) { limits_ = limits; }
  void on_examination(OnExamination f) { on_examination_ = std::move(f); }

 private:
  void run(Examination& e, std::optional<Prediction> known);

  Worker worker_;
  OnExamination on_examination_;
  Device device_;
  RunLimits limits_;
  Isolation isolation_;
};

}  // namespace brink
