#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/softmax/implementation.h"
#include "properties/case.h"
#include "properties/raw_observation.h"

namespace brink {

enum class Device { kHost, kCuda };

constexpr std::string_view name_of(Device device) { return device == Device::kHost ? "host" : "cuda"; }

/// One run: what was launched, as the launching side saw it, and what it left in memory.
struct Execution {
  std::optional<Dispatch> launched;
  RawObservation raw;

  /// What really ran: as the kernel's own stamp says, or, where a hang or a fault left none, as the launching side saw
  /// it.
  std::optional<Dispatch> reached() const;
};

/// A run that ended well without a kernel's stamp is none, whatever is in the memory: it becomes not executed.
void require_stamp(Execution& execution);

/// Called with what is about to be launched, so that it is known even where the launch never ends.
using OnLaunch = std::function<void(const Dispatch&)>;

/// Largest amount of work, in element visits, that the host takes on for one case.
inline constexpr int64_t kHostWorkMax = int64_t{1} << 30;

/// The device that the host is in launch sizing: as many blocks as a large grid has, since it runs them one by one and
/// most cases need only a few of them.
inline constexpr int64_t kHostResidentBlocks = int64_t{1} << 28;
/// The scale model's: few, so that its loops take several steps.
inline constexpr int64_t kScaledResidentBlocks = 4;

/// Registers that the threads of a block of a kernel short of registers share on the host, as on a GPU of compute
/// capability 3.0 and newer.
inline constexpr int64_t kHostBlockRegisters = 65536;

/// The occupancy that launch sizing sees on the host for this implementation.
FixedOccupancy host_occupancy(const Implementation& implementation);

/// Runs a valid, non-empty case in this process. `windows` are the output elements to look at (sorted, disjoint); a
/// tensor of up to kWholeMax elements is looked at whole. A case that faults takes the process with it: see worker.h.
Execution execute_on_host(const Case& c, const std::vector<Interval>& windows, const OnLaunch& on_launch = {});

/// Tensors of up to this many elements are held, run and looked at whole.
inline constexpr int64_t kWholeMax = int64_t{1} << 17;

}  // namespace brink
