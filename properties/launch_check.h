#pragma once

#include <optional>
#include <string>

#include "kernels/softmax/device_model.h"
#include "kernels/softmax/implementation.h"
#include "properties/generator.h"

// What must hold of every launch on every device, whoever sizes it.

namespace brink {

/// One launch to size on one simulated device.
struct LaunchTrial {
  LaunchRequest request;  ///< with KernelLimits::scaled() also run, on the scaled device
  DeviceSpec device;
  std::optional<int64_t> registers;  ///< of each thread, in place of model_registers()
  std::optional<Hostility> hostility;
  uint64_t seed = 0;  ///< of a hostile device
};

/// Half of the trials are at true scale, the others in the scale model; a third of the devices are hostile, and half
/// have another number of registers to a thread.
LaunchTrial draw_launch_trial(Draws& draws);

std::string to_text(const LaunchTrial& trial);

/// The first property that `helper` breaks in this trial, in words, or an empty string:
/// - it ends, and asks at most once about each block of the chain;
/// - block.y is halved until it is 1, then block.x, with the shared memory that each block needs;
/// - what is accepted was asked about last, the query succeeded, at least one block is resident, and every limit of the
///   device and of the kernel holds, as does the width of each launch dimension;
/// - what is rejected has a reason, and no block of the chain is left to try;
/// - at model scale, every element is written once and right, and no barrier is reached by only some threads of a
///   block.
std::string launch_problem(const LaunchTrial& trial, LaunchHelper helper);

}  // namespace brink
