#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case.h"
#include "properties/execution.h"
#include "properties/expression_values.h"

// What coverage is counted in: design.md, section 1, "cell".

namespace brink {

/// A value where an expression changes meaning. The unit is the expression's: bytes for byte_offset, blocks for the two
/// launch limits, elements or counts otherwise.
enum class Boundary {
  k31Bit,     ///< 2^31 - 1
  k32Bit,     ///< 2^32 - 1
  kGridXMax,  ///< largest grid_x that CUDA launches, 2^31 - 1 blocks
  kGridYMax,  ///< largest grid_y that CUDA launches, 65535 blocks
  kU8Max,     ///< of scale models: the largest value of the narrow index type
  kI8Max,
  kU16Max,
  kI16Max,
};

int64_t value_of(Boundary boundary);
std::string_view name_of(Boundary boundary);

/// Where the largest value of an expression lies: at most `side_reach` below its boundary, on it, or as much above it.
enum class Side { kBelow, kAt, kAbove };

/// 4096; 16 in scale models.
int64_t side_reach(Boundary boundary);

/// Which output elements were looked at: the first, those that element_offset (byte_offset) crosses the boundary at,
/// the last.
enum class Location { kStart, kBoundary, kEnd };

std::string_view name_of(Side side);
std::string_view name_of(Location location);

struct Cell {
  Path path = Path::kLastDim;
  Variant variant = Variant::kWarp;
  bool backward = false;
  IndexType index_type = IndexType::kI64;  ///< the one that the offsets are really computed in
  Expression expression = Expression::kNone;
  Boundary boundary = Boundary::k31Bit;
  Side side = Side::kAt;
  Location location = Location::kStart;
  LaunchForm launch_form = LaunchForm::kResident;

  auto operator<=>(const Cell&) const = default;
};

/// For example "spatial/columns backward u32 element_offset 2^32-1 above end resident".
std::string to_text(const Cell& cell);

/// Expressions that a variant computes, in the order of the enumeration.
std::vector<Expression> expressions_of(Variant variant);

/// The boundaries of `expression` where `implementation` computes its offsets in `index_type`.
std::vector<Boundary> boundaries_of(Expression expression, Variant variant, const Implementation& implementation,
                                    IndexType index_type);

/// What is compared with the boundary: the expression's largest value; for the launch limits, the grid's dimension.
std::optional<Exact> bounded_value(const ExpressionValues& values, const Launch& launch, Expression expression,
                                   Boundary boundary);

/// The side on which `value` lies, or nothing where it is too far away.
std::optional<Side> side_of(Exact value, Boundary boundary);

/// Linear index of the last element whose offset does not exceed the boundary, or nothing for a launch limit.
std::optional<int64_t> boundary_element(Expression expression, Boundary boundary, DType dtype);

/// The launch that a case's cells are counted by: the one that is sized for `occupancy`, or, where it is rejected, the
/// one that a plain kernel gets on a device that holds everything, with the form kRejected. Nothing for another path.
std::optional<Dispatch> counted_launch(const Implementation& implementation, const Decomposition& shape,
                                       Operation operation, DType dtype, OccupancyQuery& occupancy);

/// Cells that a launch reaches where the elements of `looked_at` (sorted, disjoint) are looked at. Sorted.
std::vector<Cell> cells_of(const Case& c, const Decomposition& shape, const Dispatch& launched,
                           const std::vector<Interval>& looked_at, LaunchForm form);

/// What a run reached: the launch, and where it was looked at.
struct ReachedLaunch {
  Dispatch launched;
  std::vector<Interval> looked_at;
};

/// Nothing where nothing was executed. A hang, a fault and a rejected launch are seen without looking at any element,
/// so they count everywhere.
std::optional<ReachedLaunch> reached_launch(const Case& c, const Decomposition& shape, const Execution& execution);

/// Cells that a run reached: from what was really launched and looked at.
std::vector<Cell> cells_reached(const Case& c, const Decomposition& shape, const Execution& execution);

struct CellStatus {
  Cell cell;
  std::optional<Case> witness;  ///< a case that reaches it on this device
  std::string reason;           ///< why there is none, beginning with "impossible: " or "beyond this device: "

  bool reachable() const { return witness.has_value(); }
};

/// Every cell of the true-width implementations, in order. A cell is reachable where the solver of generator.h finds a
/// case. For kCuda, launches are sized for the model sm_90 of device_model.h, an H200.
std::vector<CellStatus> all_cells(Device device);

}  // namespace brink
