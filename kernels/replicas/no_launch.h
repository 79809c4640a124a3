#pragma once

#include "kernels/softmax/implementation.h"

// A replica that sizes its launch as the dispatched kernel does, returns success and launches nothing, as test suites
// do that take a lack of memory or a "not supported" for success. It repeats no public report; it plants what only the
// kernel's own stamp can show.

namespace brink {

/// Whether `implementation` launches the kernel that it says it does.
constexpr bool launches_its_kernel(const Implementation& implementation) {
  return implementation.rule != WidthRule::kNoLaunch;
}

}  // namespace brink
