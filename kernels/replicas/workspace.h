#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/softmax/implementation.h"

// A replica whose offsets are right and whose appetite is not: before it runs the dispatched kernel it stages every
// element as a double, as an operation does that casts its whole input up first. With a tensor near 2^32 elements that
// is 32 GiB beside the tensor. It repeats no public report; it plants what a memory limit has to catch.

namespace brink {

/// Bytes that `implementation` takes beside the tensors; 0 for all but `workspace`. Saturates at int64_t's maximum.
int64_t workspace_bytes(const Implementation& implementation, const Decomposition& shape);

/// Memory on the host with a byte written on each page.
class HostWorkspace {
 public:
  /// Takes `bytes`; where the system refuses, the reason is not empty.
  explicit HostWorkspace(int64_t bytes);
  const std::string& refusal() const { return refusal_; }

 private:
  std::unique_ptr<volatile char[]> memory_;
  std::string refusal_;
};

}  // namespace brink
