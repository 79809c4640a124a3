#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fuzz/boundary_counters.h"
#include "fuzz/case_bytes.h"
#include "fuzz/launch_check.h"

// Launch sizing, on devices that the input makes up: its first bytes describe the device, the rest is a case.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  brink::count_input();
  const std::span<const uint8_t> bytes(data, size);
  const auto device = bytes.first(std::min(size, brink::BytesOccupancy::kBytes));
  const brink::Case c = brink::decode(bytes.subspan(device.size()));
  if (!brink::validate(c).empty()) return -1;
  const auto shape = std::get<brink::Decomposition>(brink::decompose(c));
  if (shape.numel() == 0) return -1;
  brink::BytesOccupancy occupancy(device);
  if (const std::string line = brink::launch_problem(c, occupancy); !line.empty()) {
    fmt::print(stderr, "finding: {}\ndevice: {}\ncase: {}repeat: launch_fuzz with this input\n", line,
               fmt::join(device, " "), brink::to_text(c));
    std::abort();
  }
  const auto decision = brink::dispatch(c.implementation, shape, c.operation, c.dtype, occupancy);
  if (const auto* launch = std::get_if<brink::Dispatch>(&decision)) {
    brink::set_counters(brink::distance_counters(c, shape, *launch));
  }
  return 0;
}
