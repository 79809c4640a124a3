#pragma once

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
  std::vector<std::string> differences;  ///< between prediction and observation; empty where they agree
};

/// Who the examined implementation belongs to. In its self-check brink knows its own defects: they must fail exactly as
/// predicted. A user's kernel must be right.
enum class Role { kSelfCheck, kUser };

constexpr std::string_view name_of(Role role) { return role == Role::kSelfCheck ? "self_check" : "user"; }

/// Why an examination is a finding: one line each; empty for what is as it should be, and for what was not executed.
std::vector<std::string> findings(const Examination& examination, Role role);

/// Cells that a case reaches where what was predicted for it is launched; none where nothing is.
std::vector<Cell> planned_cells(const Case& c, const Decomposition& shape, const Prediction& prediction);

/// Which cases run in a worker process on the host; on a GPU all do.
enum class Isolation {
  kPredicted,  ///< those that may end the process or take its memory, going by the prediction
  kAlways,     ///< all: whatever an implementation does, the caller goes on
};

/// Examines cases on one device.
class Examiner {
 public:
  explicit Examiner(Device device, double limit_seconds = 60, Isolation isolation = Isolation::kPredicted,
                    int64_t memory_limit = kWorkerMemoryMax)
      : worker_(device, memory_limit), device_(device), limit_(limit_seconds), isolation_(isolation) {}

  /// `c` must be valid. `known`: its prediction, where predict() was asked for it already.
  Examination examine(const Case& c, std::optional<Prediction> known = std::nullopt);
  Prediction predict(const Case& c, Engine engine = Engine::kAuto);
  Device device() const { return device_; }
  Worker& worker() { return worker_; }

 private:
  Worker worker_;
  Device device_;
  double limit_;
  Isolation isolation_;
};

}  // namespace brink
