#pragma once

#include <string>

#include "fuzz/case_mutation.h"

namespace brink {

/// Scale models on tensors that are looked at whole.
MutationLimits oracle_limits();

/// The oracle against brute force: what the kernel itself, run with narrow indices, leaves in each element must be what
/// was predicted, by both engines. One line that says what differs first, or an empty string; `c` must be within
/// oracle_limits() and at most kWholeMax elements.
std::string oracle_problem(const Case& c);

}  // namespace brink
