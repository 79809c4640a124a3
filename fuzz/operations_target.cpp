#include "fuzz/operations_target.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "fuzz/case_bytes.h"

namespace brink {

OperationsTarget::OperationsTarget(Device device, int argc, char** argv) : examiner_(device) {
  options_.limits.device = device;
  if (device == Device::kCuda) {
    options_.limits.memories = {MemoryKind::kAliased};
    std::erase_if(options_.limits.implementations, [](const Implementation& i) { return i.scaled(); });
    options_.limits.occupancy = std::make_shared<DeviceOccupancy>(device, Implementation{}, examiner_.worker());
  }
  read_options(argc, argv, options_);
  if (device != Device::kCuda) return;
  if (const std::string reason = examiner_.worker().unavailable(); !reason.empty()) {
    fmt::print(stderr, "not executed: {}\n", reason);
    std::exit(3);
  }
}

std::optional<Examination> OperationsTarget::run(std::span<const uint8_t> bytes) {
  const Case c = confined(decode(bytes), options_.limits);
  if (!refusal_of(c, options_.limits).empty()) return std::nullopt;
  Examination e = examiner_.examine(c);
  if (const auto lines = findings(e, options_.role); !lines.empty()) abort_with(c, examiner_.device(), lines);
  return e;
}

}  // namespace brink
