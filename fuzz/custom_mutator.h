#pragma once

#include "fuzz/case_mutation.h"

namespace brink {

/// Makes libFuzzer mutate and cross over its inputs as cases, within `limits`. A program that does not call this keeps
/// libFuzzer's own mutations of bytes.
void mutate_as_cases(const MutationLimits& limits);

}  // namespace brink
