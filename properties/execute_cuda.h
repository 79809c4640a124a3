#pragma once

#include <vector>

#include "properties/execution.h"

namespace brink {

/// Runs a valid, non-empty case on this process's GPU; see execute_on_host. Use it through a Worker: a kernel that
/// faults leaves the process without a GPU, and one that hangs hangs it.
Execution execute_on_cuda(const Case& c, const std::vector<Interval>& windows, const OnLaunch& on_launch = {});

}  // namespace brink
