#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "properties/matrix.h"

// The cheapest set of cases that reaches every cell that limits allow: cells of single expressions (cell.h) and of the
// matrix (matrix.h), the latter in whichever memory a case gets.

namespace brink {

struct PlanLimits {
  Device device = Device::kHost;
  int64_t memory = 0;             ///< bytes of real memory for the tensors of one case
  std::optional<double> seconds;  ///< for all cases, by the estimate of cost_of()
};

struct PlannedCase {
  Case c;
  double seconds = 0;              ///< estimated
  std::vector<std::string> cells;  ///< those that it is there for: no case before it reaches them
};

struct Plan {
  PlanLimits limits;
  std::vector<PlannedCase> cases;
  int64_t cells = 0;        ///< reached by the cases
  int64_t candidates = 0;   ///< cases that it was chosen from
  int64_t lower_bound = 0;  ///< no fewer of the candidates reach the same cells: so many cells share none, two by two
  double seconds = 0;       ///< estimated
  double lower_bound_seconds = 0;  ///< the estimate for the cheapest cases that reach the cells of lower_bound
  std::map<std::string, std::string> left_out;  ///< reachable cells that the limits leave out, each with its reason
};

/// What a case would do on the device that the plan is for.
using Predictor = std::function<Prediction(const Case&)>;

/// Deterministic where `predict` is.
Plan make_plan(const PlanLimits& limits, const Predictor& predict);

/// The cells that an execution counts for in a plan, as text: cells as they are, the matrix's without their memory.
std::vector<std::string> plan_cells(const Case& c, const Decomposition& shape, const Execution& execution);

/// JSON lines: first what the plan is, then one line for each case.
std::string to_text(const Plan& plan);

/// Reads to_text(); the error is one line that names the line and the field.
std::variant<Plan, std::string> parse_plan(std::string_view text);

}  // namespace brink
