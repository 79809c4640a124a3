#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/softmax/launch.h"

// Simulated devices: what launch sizing would be answered on hardware that is not there.

namespace brink {

/// What a device has, as its vendor publishes it. The sources are in device_model.cpp.
struct DeviceSpec {
  std::string name;
  int64_t multiprocessors;
  int64_t warp_size;
  int64_t threads_per_sm;
  int64_t blocks_per_sm;
  int64_t registers_per_sm;  ///< also of one block
  int64_t register_unit;     ///< a warp's registers are rounded up to a multiple of this
  int64_t partitions;        ///< of the register file; a warp's registers lie in one of them
  int64_t shared_per_sm;     ///< bytes
  int64_t shared_unit;       ///< a block's bytes are rounded up to a multiple of this
  int64_t shared_reserved;   ///< bytes of each block that the system takes
  DeviceLimits limits;
};

/// sm_75, sm_80, sm_86, sm_90, sm_100 and gfx950, in this order.
const std::vector<DeviceSpec>& device_specs();

/// One of device_specs() by name.
std::optional<DeviceSpec> find_device_spec(std::string_view name);

/// The device for KernelLimits::scaled(): blocks of 16 threads, and all that goes with a thread in proportion.
DeviceSpec scaled(DeviceSpec spec);

/// Registers of a thread of a kernel, as nvcc 13 gives them to the kernels of this project on sm_90: the most of the
/// four operations. Narrow index types count as u32.
int64_t model_registers(const KernelId& kernel);

/// A device that answers as its specification says. Blocks that are too large for the registers or the shared memory of
/// a multiprocessor get the answer 0, with success.
class DeviceModel : public OccupancyQuery {
 public:
  /// `registers`: of a thread of every kernel; without it, those of model_registers().
  explicit DeviceModel(DeviceSpec spec, std::optional<int64_t> registers = std::nullopt)
      : spec_(std::move(spec)), registers_(registers) {}

  const DeviceSpec& spec() const { return spec_; }
  DeviceLimits limits() override { return spec_.limits; }
  KernelAttributes attributes(const KernelId& kernel) override;
  Occupancy resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) override;

 private:
  int64_t registers_of(const KernelId& kernel) const { return registers_.value_or(model_registers(kernel)); }

  DeviceSpec spec_;
  std::optional<int64_t> registers_;
};

/// The device that stands for an H200 where there is none to ask: sm_90.
DeviceModel h200_model();

/// What is wrong with a hostile device.
enum class Hostility {
  kErrors,   ///< any call may fail
  kOnes,     ///< every limit is 1, and one block is resident
  kFickle,   ///< limits, attributes and occupancy change from call to call, and some make no sense
  kNothing,  ///< every query succeeds, and no block is ever resident
};

inline constexpr Hostility kHostilities[] = {Hostility::kErrors, Hostility::kOnes, Hostility::kFickle,
                                             Hostility::kNothing};

constexpr std::string_view name_of(Hostility hostility) {
  switch (hostility) {
    case Hostility::kErrors:
      return "errors";
    case Hostility::kOnes:
      return "ones";
    case Hostility::kFickle:
      return "fickle";
    case Hostility::kNothing:
      break;
  }
  return "nothing";
}

/// A device that no launch helper may trust. Its answers follow from `seed` and the number of the call alone.
class HostileDevice : public OccupancyQuery {
 public:
  HostileDevice(Hostility hostility, DeviceModel model, uint64_t seed)
      : hostility_(hostility), model_(std::move(model)), state_(seed) {}

  DeviceLimits limits() override;
  KernelAttributes attributes(const KernelId& kernel) override;
  Occupancy resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) override;

 private:
  uint64_t next();
  int64_t any_number();
  std::string error();

  Hostility hostility_;
  DeviceModel model_;
  uint64_t state_;
};

}  // namespace brink
