#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "properties/examine.h"
#include "properties/finding.h"
#include "properties/regression.h"

namespace brink {

/// What a file can hold that is run again.
using SavedCase = std::variant<Case, Finding, Regression>;

/// Reads a case, a finding or a regression, whichever it is; the error is one line.
std::variant<SavedCase, std::string> parse_saved_case(std::string_view text);

/// `c`, which was recorded on one device, with the kind of memory that another one has: sparse memory becomes aliased
/// on a GPU, and the other way round. The same device: `c` itself.
Case on_device(Case c, Device recorded_on, Device device);

/// What running a saved case again showed.
struct Replayed {
  int runs = 0;
  std::vector<std::string> problems;      ///< what is not as it must be
  std::vector<std::string> not_executed;  ///< what did not run, with its reason: no pass
  std::vector<std::string> repeats;       ///< the commands that repeat the problems
};

/// The limits to run under, given those that the file names.
using ChooseLimits = std::function<RunLimits(const RunLimits& recorded)>;

/// Runs a saved case again on the examiner's device; without `limits` under those that the file names, else the
/// examiner's.
///
/// A regression must give each implementation's expected verdict, and its own one must fail by the recorded expression;
/// on the device that it was recorded on, prediction and observation must have the recorded sets of elements. A finding
/// must fail for its cause. A plain case must be ok, or, for a known defect, fail as predicted; it
/// counts as recorded on the host.
Replayed replay(Examiner& examiner, const SavedCase& saved, const ChooseLimits& limits = {});

}  // namespace brink
