#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

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

/// Names one compiled kernel.
struct KernelId {
  Operation operation;
  Variant variant;
  DType dtype;
  IndexType index_type;
};

/// What a launch-sizing query answers: an error in words, or the resident blocks of the whole device (which may be 0
/// although the query succeeded).
struct Occupancy {
  std::string error;
  int64_t resident_blocks = 0;
};

/// Where launch sizing asks how many blocks fit. Implemented by the CUDA runtime and by simulated devices.
class OccupancyQuery {
 public:
  virtual ~OccupancyQuery() = default;
  /// Resident blocks over all multiprocessors for `threads` per block and `shared_bytes` of dynamic shared memory.
  virtual Occupancy resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) = 0;
};

/// A device that holds `blocks` blocks of any size: the host, and the scale model.
class FixedOccupancy : public OccupancyQuery {
 public:
  explicit FixedOccupancy(int64_t blocks) : blocks_(blocks) {}
  Occupancy resident_blocks(const KernelId&, int64_t, int64_t) override { return {"", blocks_}; }

 private:
  int64_t blocks_;
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

/// A launch and the kernel variant that it is for.
struct SizedLaunch {
  Path path = Path::kLastDim;
  Variant variant = Variant::kBlock;
  Launch launch;
};

constexpr Path path_of(const Decomposition& shape) { return shape.inner_size == 1 ? Path::kLastDim : Path::kSpatial; }

/// Chooses the variant, block and grid for a non-empty shape. Accepts only a launch of which at least one block is
/// resident, halving block.y, then block.x, until one is; returns the reason where none is (a rejected launch).
std::variant<SizedLaunch, std::string> size_launch(const Decomposition& shape, Operation operation, DType dtype,
                                                   IndexType index_type, const KernelLimits& limits,
                                                   OccupancyQuery& occupancy);

}  // namespace brink
