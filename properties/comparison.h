#pragma once

#include <string>
#include <vector>

#include "properties/execution.h"
#include "properties/oracle.h"

namespace brink {

/// What an execution showed, in the prediction's form. Where the memory does not count writes (a GPU's), an element
/// counts as contended if it was predicted to be and holds the value of one of its writers.
Outcome outcome_of(const Case& c, const Decomposition& shape, const Prediction& prediction, const Execution& execution);

/// How prediction and observation differ: one line each, empty where they agree. Sets are compared on the elements that
/// were looked at; a prediction that is not exact must contain what was observed.
std::vector<std::string> differences(const Case& c, const Decomposition& shape, const Prediction& prediction,
                                     const Execution& execution, const Outcome& observed);

}  // namespace brink
