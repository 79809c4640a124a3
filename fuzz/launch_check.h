#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/softmax/launch.h"
#include "properties/case.h"

namespace brink {

/// A device as arbitrary bytes describe it: how many blocks of which size are resident, what is refused, and which
/// queries fail. Answers depend on the question alone.
class BytesOccupancy : public OccupancyQuery {
 public:
  static constexpr size_t kBytes = 8;
  /// Missing bytes are 0.
  explicit BytesOccupancy(std::span<const uint8_t> bytes);
  Occupancy resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) override;

 private:
  std::array<uint8_t, kBytes> bytes_{};
};

/// What is wrong with the launch that a valid, non-empty case gets on a device: one line, or an empty string. Says
/// nothing of a replica of a launch helper.
std::string launch_problem(const Case& c, OccupancyQuery& occupancy);

}  // namespace brink
