#include "kernels/softmax/device_model.h"

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/index/checked.h"

namespace brink {

namespace {

constexpr int64_t kKiB = 1024;

int64_t round_up(int64_t n, int64_t unit) { return ceil_div(n, unit) * unit; }

// Registers that the warps of a block may have at most, and warps that a multiprocessor holds.
struct WarpRoom {
  int64_t warps_per_sm;
  int64_t warps_per_block;
};

WarpRoom room_for(const DeviceSpec& spec, int64_t registers) {
  const int64_t of_a_warp = round_up(std::max<int64_t>(registers, 1) * spec.warp_size, spec.register_unit);
  const int64_t warps = spec.registers_per_sm / spec.partitions / of_a_warp * spec.partitions;
  // A block's warps are dealt out to the partitions evenly, so that they count in multiples of these.
  const int64_t of_a_block = spec.registers_per_sm / of_a_warp / spec.partitions * spec.partitions;
  return {warps, of_a_block};
}

}  // namespace

// NVIDIA: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (threads, blocks, registers and
// shared memory of a multiprocessor), and the allocation units of the CUDA Occupancy Calculator (256 registers a warp,
// 4 partitions, 128 bytes of shared memory from 8.0 on and 256 on 7.5, 1 KiB of it reserved from 8.0 on).
// Multiprocessors: T4, A100, A40, H200, B200. AMD: "Accelerator and GPU hardware specifications" of ROCm, MI355X; its
// registers are 512 for each of the 64 lanes of 4 SIMDs.
const std::vector<DeviceSpec>& device_specs() {
  static const DeviceLimits kAmd{"", 1024, 0x7fffffff, 65535, 65535, 64 * kKiB};
  static const std::vector<DeviceSpec> specs = {
      {"sm_75", 40, 32, 1024, 16, 65536, 256, 4, 64 * kKiB, 256, 0, {}},
      {"sm_80", 108, 32, 2048, 32, 65536, 256, 4, 164 * kKiB, 128, kKiB, {}},
      {"sm_86", 84, 32, 1536, 16, 65536, 256, 4, 100 * kKiB, 128, kKiB, {}},
      {"sm_90", 132, 32, 2048, 32, 65536, 256, 4, 228 * kKiB, 128, kKiB, {}},
      {"sm_100", 148, 32, 2048, 32, 65536, 256, 4, 228 * kKiB, 128, kKiB, {}},
      {"gfx950", 256, 64, 2048, 32, 131072, 512, 4, 160 * kKiB, 512, 0, kAmd},
  };
  return specs;
}

std::optional<DeviceSpec> find_device_spec(std::string_view name) {
  for (const DeviceSpec& spec : device_specs()) {
    if (spec.name == name) return spec;
  }
  return std::nullopt;
}

int64_t model_registers(const KernelId& kernel) {
  // [pressure][64-bit index][variant][f64], as ptxas reports them.
  constexpr int64_t kRegisters[2][2][4][2] = {
      {{{28, 37}, {37, 40}, {28, 34}, {28, 35}}, {{29, 40}, {40, 56}, {30, 40}, {32, 36}}},
      {{{79, 92}, {96, 118}, {79, 92}, {79, 92}}, {{166, 166}, {166, 232}, {166, 166}, {166, 166}}},
  };
  return kRegisters[kernel.build != Build::kPlain][kernel.index_type == IndexType::kI64]
                   [static_cast<size_t>(kernel.variant)][kernel.dtype == DType::kF64];
}

DeviceSpec scaled(DeviceSpec spec) {
  constexpr int64_t kThreads = 64;
  constexpr int64_t kLanes = 4;
  spec.name += "_scaled";
  spec.register_unit = spec.register_unit / spec.warp_size * kLanes;
  spec.warp_size = kLanes;
  spec.partitions = 1;
  spec.limits.threads /= kThreads;
  spec.limits.shared_bytes /= kThreads;
  for (int64_t* amount : {&spec.threads_per_sm, &spec.registers_per_sm, &spec.shared_per_sm}) *amount /= kThreads;
  spec.shared_unit = 16;
  spec.shared_reserved /= kThreads;
  spec.multiprocessors = 2;
  return spec;
}

DeviceModel h200_model() { return DeviceModel(*find_device_spec("sm_90")); }

KernelAttributes DeviceModel::attributes(const KernelId& kernel) {
  const int64_t registers = registers_of(kernel);
  // A driver counts the registers in; what it makes of AMD's is not known, so there the occupancy alone tells.
  const int64_t threads =
      spec_.warp_size == 64
          ? spec_.limits.threads
          : std::min(spec_.limits.threads, room_for(spec_, registers).warps_per_block * spec_.warp_size);
  return {"", registers, threads, 0};
}

Occupancy DeviceModel::resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) {
  if (threads < 1 || shared_bytes < 0) return {"invalid argument", 0};
  if (threads > spec_.limits.threads) return {"", 0};
  const int64_t warps = ceil_div(threads, spec_.warp_size);
  const WarpRoom room = room_for(spec_, registers_of(kernel));
  const int64_t allocated = round_up(warps, spec_.partitions);
  int64_t blocks = std::min(spec_.blocks_per_sm, spec_.threads_per_sm / spec_.warp_size / warps);
  blocks = std::min(blocks, allocated > room.warps_per_block ? 0 : room.warps_per_sm / warps);
  const int64_t shared = round_up(shared_bytes + spec_.shared_reserved, spec_.shared_unit);
  if (shared_bytes > spec_.limits.shared_bytes) return {"", 0};
  if (shared > 0) blocks = std::min(blocks, spec_.shared_per_sm / shared);
  return {"", blocks * spec_.multiprocessors};
}

KernelAttributes FixedOccupancy::attributes(const KernelId& kernel) {
  KernelAttributes attributes;
  attributes.registers = model_registers(kernel);
  return attributes;
}

Occupancy FixedOccupancy::resident_blocks(const KernelId& kernel, int64_t threads, int64_t /*shared_bytes*/) {
  const bool short_of_registers =
      registers_ != 0 && kernel.build != Build::kPlain && threads * model_registers(kernel) > registers_;
  return {"", short_of_registers ? 0 : blocks_};
}

uint64_t HostileDevice::next() {
  state_ = state_ * 6364136223846793005u + 1442695040888963407u;
  return state_ >> 33;
}

int64_t HostileDevice::any_number() {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr std::array<int64_t, 12> kNumbers = {0,    1,          -1,         2,           7,    33,
                                                1024, 0x7fffffff, 0xffffffff, 0x100000000, kMax, -kMax};
  return kNumbers[next() % kNumbers.size()];
}

std::string HostileDevice::error() {
  if (hostility_ == Hostility::kErrors && next() % 4 == 0) return "unknown error";
  if (hostility_ == Hostility::kFickle && next() % 16 == 0) return "initialization error";
  return "";
}

DeviceLimits HostileDevice::limits() {
  DeviceLimits limits = model_.limits();
  if (limits.error = error(); !limits.error.empty()) return limits;
  if (hostility_ == Hostility::kOnes) return {"", 1, 1, 1, 1, 1};
  if (hostility_ == Hostility::kFickle) {
    for (int64_t* limit : {&limits.threads, &limits.grid_x, &limits.grid_y, &limits.grid_z, &limits.shared_bytes}) {
      if (next() % 8 == 0) *limit = any_number();
    }
  }
  return limits;
}

KernelAttributes HostileDevice::attributes(const KernelId& kernel) {
  KernelAttributes attributes = model_.attributes(kernel);
  if (attributes.error = error(); !attributes.error.empty()) return attributes;
  if (hostility_ == Hostility::kOnes) return {"", 1, 1, 0};
  if (hostility_ == Hostility::kFickle) {
    for (int64_t* value : {&attributes.max_threads, &attributes.static_shared_bytes}) {
      if (next() % 8 == 0) *value = any_number();
    }
  }
  return attributes;
}

Occupancy HostileDevice::resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) {
  Occupancy answer = model_.resident_blocks(kernel, threads, shared_bytes);
  if (answer.error = error(); !answer.error.empty()) return answer;
  if (hostility_ == Hostility::kOnes) return {"", 1};
  if (hostility_ == Hostility::kNothing) return {"", 0};
  if (hostility_ == Hostility::kFickle && next() % 2 == 0) answer.resident_blocks = any_number();
  return answer;
}

}  // namespace brink
