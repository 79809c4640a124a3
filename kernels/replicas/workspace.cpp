#include "kernels/replicas/workspace.h"

#include <fmt/format.h>

#include <limits>
#include <new>

#include "kernels/index/checked.h"

namespace brink {

int64_t workspace_bytes(const Implementation& implementation, const Decomposition& shape) {
  if (implementation.rule != WidthRule::kWorkspace) return 0;
  return checked_mul(shape.numel(), int64_t{sizeof(double)}).value_or(std::numeric_limits<int64_t>::max());
}

HostWorkspace::HostWorkspace(int64_t bytes) {
  if (bytes == 0) return;
  memory_.reset(new (std::nothrow) volatile char[static_cast<size_t>(bytes)]);
  if (!memory_) {
    refusal_ = fmt::format("the implementation's workspace: the system refuses {} bytes", bytes);
    return;
  }
  constexpr int64_t kPage = 4096;
  for (int64_t at = 0; at < bytes; at += kPage) memory_[static_cast<size_t>(at)] = 1;
}

}  // namespace brink
