#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "properties/execution.h"

namespace brink {

/// Real memory that a run of a non-empty case holds for its tensors, in bytes, as RawObservation::physical_bytes counts
/// it: worked out beforehand, and no less than what is counted then. `windows` are what the run will look at.
int64_t memory_needed(const Case& c, const Decomposition& shape, const std::vector<Interval>& windows, Device device);

/// Reads an amount of memory such as 200MiB, 30GiB, 2GB (of 1000^3) or 4096; nothing for anything else.
std::optional<int64_t> parse_bytes(std::string_view text);

}  // namespace brink
