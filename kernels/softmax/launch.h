#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/index/index_type.h"
#include "kernels/softmax/decomposition.h"
#include "kernels/softmax/dtype.h"
#include "kernels/softmax/operation.h"

namespace brink {

/// What shape and axis select: inner_size == 1 or inner_size > 1.
enum class Path { kLastDim, kSpatial };

constexpr std::string_view name_of(Path path) { return path == Path::kLastDim ? "last_dim" : "spatial"; }

/// Sub-variant of a path: last_dim takes kWarp (short rows) or kBlock; spatial takes kColumns (a thread reduces a
/// column alone) or kReduce (the threads of one block.y share a column).
enum class Variant { kWarp, kBlock, kColumns, kReduce };

constexpr std::string_view name_of(Variant variant) {
  switch (variant) {
    case Variant::kWarp:
      return "warp";
    case Variant::kBlock:
      return "block";
    case Variant::kColumns:
      return "columns";
    case Variant::kReduce:
      break;
  }
  return "reduce";
}

/// Sizes at which launch sizing changes its mind. `real()` are those of a GPU; `scaled()` keeps their proportions in a
/// model that 8-bit indices can cross.
struct KernelLimits {
  int64_t warp_size;
  int64_t warp_dim_max;       ///< longest row that a warp takes
  int64_t row_block_max;      ///< threads of a block that works on one row
  int64_t spatial_block_max;  ///< threads of a spatial block
  int64_t reduce_inner_max;   ///< widest inner_size for which a block shares columns
  int64_t reduce_dim_min;     ///< shortest dim_size for which a block shares columns
  int64_t grid_x_max;
  int64_t grid_y_max;

  static constexpr KernelLimits real() { return {32, 1024, 512, 1024, 64, 64, 0x7fffffff, 65535}; }
  static constexpr KernelLimits scaled() { return {4, 12, 16, 16, 4, 4, 0x7fffffff, 255}; }
};

/// How a kernel is built.
enum class Build {
  kPlain,
  kPressure,     ///< the same code, which keeps more values in registers: large blocks do not fit
  kTornBarrier,  ///< a replica, short of registers too: its threads disagree about a barrier (replicas/torn_barrier.h)
};

/// Names one compiled kernel.
struct KernelId {
  Operation operation;
  Variant variant;
  DType dtype;
  IndexType index_type;
  Build build = Build::kPlain;

  auto operator<=>(const KernelId&) const = default;
};

/// Largest value of a launch dimension's type: dim3 holds 32-bit unsigned integers.
inline constexpr int64_t kDimensionMax = 0xffffffff;

/// What launch sizing has to know about a kernel; an error in words where the query for it failed.
struct KernelAttributes {
  std::string error;
  int64_t registers = 0;                ///< of a thread; 0: not known
  int64_t max_threads = kDimensionMax;  ///< of a block
  int64_t static_shared_bytes = 0;      ///< of a block, beside what a launch asks for
};

/// The largest launch that a device takes; an error in words where the query for it failed. The defaults are those of
/// every CUDA device of compute capability 3.0 and newer (CUDA C++ Programming Guide, technical specifications).
struct DeviceLimits {
  std::string error;
  int64_t threads = 1024;  ///< of a block, as its x and y
  int64_t grid_x = 0x7fffffff;
  int64_t grid_y = 65535;
  int64_t grid_z = 65535;
  int64_t shared_bytes = int64_t{48} * 1024;  ///< of a block that has not opted in to more
};

/// What a launch-sizing query answers: an error in words, or the resident blocks of the whole device (which may be 0
/// although the query succeeded).
struct Occupancy {
  std::string error;
  int64_t resident_blocks = 0;
};

/// Where launch sizing asks what fits. Implemented by the CUDA runtime and by simulated devices (device_model.h). Every
/// call can fail, and may answer differently from the last.
class OccupancyQuery {
 public:
  virtual ~OccupancyQuery() = default;
  virtual DeviceLimits limits() { return {}; }
  virtual KernelAttributes attributes(const KernelId& /*kernel*/) { return {}; }
  /// Resident blocks over all multiprocessors for `threads` per block and `shared_bytes` of dynamic shared memory.
  virtual Occupancy resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) = 0;
};

/// A device that holds `blocks` blocks of any size: the host, and the scale model. Where `registers` is not 0, the
/// threads of a block of Build::kPressure share that many registers, and none is resident where they do not suffice.
class FixedOccupancy : public OccupancyQuery {
 public:
  explicit FixedOccupancy(int64_t blocks, int64_t registers = 0) : blocks_(blocks), registers_(registers) {}
  KernelAttributes attributes(const KernelId& kernel) override;
  Occupancy resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) override;

 private:
  int64_t blocks_;
  int64_t registers_;
};

/// A launch: block and grid in x and y (z is 1), dynamic shared memory in bytes.
struct Launch {
  int64_t block_x = 1;
  int64_t block_y = 1;
  int64_t grid_x = 1;
  int64_t grid_y = 1;
  int64_t shared_bytes = 0;

  int64_t threads() const { return block_x * block_y; }
  bool operator==(const Launch&) const = default;
};

/// How a launch came about: the first block was resident; block.y alone was reduced; block.x as well; or no block was
/// accepted.
enum class LaunchForm { kResident, kReducedY, kReducedX, kRejected };

std::string_view name_of(LaunchForm form);

/// A launch and the kernel variant that it is for.
struct SizedLaunch {
  Path path = Path::kLastDim;
  Variant variant = Variant::kBlock;
  Launch launch;
  LaunchForm form = LaunchForm::kResident;
};

/// What launch sizing does with one block size.
enum class Decision { kAccept, kShrinkY, kShrinkX, kReject };

std::string_view name_of(Decision decision);

/// One step of launch sizing.
struct LaunchAttempt {
  Launch launch;        ///< its grid counts only where it was accepted
  Occupancy answer;     ///< the device's; nothing where it was not asked
  std::string refusal;  ///< why this block cannot be launched, in words; empty where it is accepted
  Decision decision = Decision::kReject;
};

/// What is to be launched.
struct LaunchRequest {
  Decomposition shape;  ///< not empty
  Operation operation;
  DType dtype;
  IndexType index_type;
  KernelLimits limits;
  Build build = Build::kPlain;
};

/// The steps of launch sizing and what came of them: a launch, or the reason why there is none.
struct LaunchPlan {
  KernelId kernel;
  DeviceLimits device;
  KernelAttributes attributes;
  std::vector<LaunchAttempt> attempts;
  std::optional<SizedLaunch> launch;
  std::string reason;
};

constexpr Path path_of(const Decomposition& shape) { return shape.inner_size == 1 ? Path::kLastDim : Path::kSpatial; }

/// Chooses the variant, block and grid. A block is accepted only where the query succeeds, at least one block is
/// resident and every limit of device and kernel holds; until then block.y is halved, then block.x, and threads, shared
/// memory and occupancy are worked out anew.
LaunchPlan plan_launch(const LaunchRequest& request, OccupancyQuery& occupancy);

/// plan_launch() without its steps: the launch, or the reason why there is none (a rejected launch).
std::variant<SizedLaunch, std::string> size_launch(const Decomposition& shape, Operation operation, DType dtype,
                                                   IndexType index_type, const KernelLimits& limits,
                                                   OccupancyQuery& occupancy);

/// Why a device refuses a launch when it is launched, whoever sized it; empty where it takes it.
std::string launch_refusal(const KernelId& kernel, const Launch& launch, OccupancyQuery& occupancy);

// The parts of launch sizing; kernels/replicas/ puts them together wrongly.

/// Asks for the limits and attributes; `reason` says which query failed.
LaunchPlan begin_plan(const LaunchRequest& request, const SizedLaunch& first, OccupancyQuery& occupancy);
/// The variant, and the block that is tried first.
SizedLaunch first_choice(const LaunchRequest& request);
/// Dynamic shared memory that the block of `launch` needs.
int64_t shared_bytes_of(const Launch& launch, Variant variant, DType dtype);
/// Chooses the grid for `resident` blocks, of 0 blocks where that is below 1.
void size_grid(const LaunchRequest& request, const DeviceLimits& device, int64_t resident, SizedLaunch& sized);
/// Asks about the block of `sized`, sizes its grid, and says what is in the way, if anything.
LaunchAttempt try_block(const LaunchRequest& request, const LaunchPlan& plan, SizedLaunch& sized,
                        OccupancyQuery& occupancy);
/// Ends a plan without a launch: says why the last block was refused.
void reject(const SizedLaunch& sized, LaunchPlan& plan);

}  // namespace brink
