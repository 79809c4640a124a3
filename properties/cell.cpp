#include "properties/cell.h"

#include <fmt/format.h>

#include <algorithm>

namespace brink {

int64_t value_of(Boundary boundary) {
  switch (boundary) {
    case Boundary::k31Bit:
      return limits_of(IndexType::kI32).max;
    case Boundary::k32Bit:
      return limits_of(IndexType::kU32).max;
    case Boundary::kGridXMax:
      return KernelLimits::real().grid_x_max;
    case Boundary::kGridYMax:
      return KernelLimits::real().grid_y_max;
    case Boundary::kU8Max:
      return limits_of(IndexType::kU8).max;
    case Boundary::kI8Max:
      return limits_of(IndexType::kI8).max;
    case Boundary::kU16Max:
      return limits_of(IndexType::kU16).max;
    case Boundary::kI16Max:
      break;
  }
  return limits_of(IndexType::kI16).max;
}

std::string_view name_of(Boundary boundary) {
  switch (boundary) {
    case Boundary::k31Bit:
      return "2^31-1";
    case Boundary::k32Bit:
      return "2^32-1";
    case Boundary::kGridXMax:
      return "launch_limit_2^31-1";
    case Boundary::kGridYMax:
      return "launch_limit_65535";
    case Boundary::kU8Max:
      return "u8_max";
    case Boundary::kI8Max:
      return "i8_max";
    case Boundary::kU16Max:
      return "u16_max";
    case Boundary::kI16Max:
      break;
  }
  return "i16_max";
}

std::string_view name_of(Side side) { return side == Side::kBelow ? "below" : side == Side::kAt ? "at" : "above"; }

std::string_view name_of(Location location) {
  return location == Location::kStart ? "start" : location == Location::kBoundary ? "boundary" : "end";
}

namespace {

Boundary model_boundary(IndexType type) {
  switch (type) {
    case IndexType::kU8:
      return Boundary::kU8Max;
    case IndexType::kI8:
      return Boundary::kI8Max;
    case IndexType::kU16:
      return Boundary::kU16Max;
    default:
      return Boundary::kI16Max;
  }
}

bool is_model(Boundary boundary) { return boundary >= Boundary::kU8Max; }
bool is_launch_limit(Boundary boundary) { return boundary == Boundary::kGridXMax || boundary == Boundary::kGridYMax; }

bool looked_at_any(const std::vector<Interval>& looked_at, int64_t first, int64_t last) {
  return std::any_of(looked_at.begin(), looked_at.end(),
                     [&](const Interval& window) { return window.first <= last && first <= window.last; });
}

}  // namespace

int64_t side_reach(Boundary boundary) { return is_model(boundary) ? 16 : 4096; }

std::string to_text(const Cell& cell) {
  return fmt::format("{}/{} {} {} {} {} {} {} {}", name_of(cell.path), name_of(cell.variant),
                     cell.backward ? "backward" : "forward", name_of(cell.index_type), name_of(cell.expression),
                     name_of(cell.boundary), name_of(cell.side), name_of(cell.location), name_of(cell.launch_form));
}

std::vector<Expression> expressions_of(Variant variant) {
  // Any launch of the variant shows which expressions it has.
  SizedLaunch sized;
  sized.variant = variant;
  const ExpressionValues values = largest_values({1, 1, 1}, sized, DType::kF16);
  std::vector<Expression> result;
  for (int i = 0; i < kExpressionCount; ++i) {
    const auto expression = static_cast<Expression>(i);
    if (values[expression]) result.push_back(expression);
  }
  return result;
}

std::vector<Boundary> boundaries_of(Expression expression, Variant variant, const Implementation& implementation,
                                    IndexType index_type) {
  const bool grid = expression == Expression::kGridX || expression == Expression::kGridY;
  if (implementation.scaled()) {
    // Byte offsets and grids have no scale: they are 64-bit arithmetic and the device's limits.
    if (expression == Expression::kByteOffset || grid) return {};
    return {model_boundary(implementation.index_type)};
  }
  if (expression == Expression::kByteOffset) return {Boundary::k31Bit, Boundary::k32Bit};
  std::vector<Boundary> result;
  // The step over columns is 65535 * 1024 at most, and a step of grid_x rows or slices meets its launch limit first;
  // only the warp kernel's, of grid_x * block.y rows, has the index type's boundary too.
  if (!grid || (expression == Expression::kGridX && variant == Variant::kWarp)) {
    if (index_type != IndexType::kU32) result.push_back(Boundary::k31Bit);
    if (index_type != IndexType::kI32) result.push_back(Boundary::k32Bit);
  }
  if (grid) result.push_back(expression == Expression::kGridX ? Boundary::kGridXMax : Boundary::kGridYMax);
  return result;
}

std::optional<Exact> bounded_value(const ExpressionValues& values, const Launch& launch, Expression expression,
                                   Boundary boundary) {
  if (boundary == Boundary::kGridXMax) return launch.grid_x;
  if (boundary == Boundary::kGridYMax) return launch.grid_y;
  return values[expression];
}

std::optional<Side> side_of(Exact value, Boundary boundary) {
  const Exact distance = value - value_of(boundary);
  const Exact reach = side_reach(boundary);
  if (distance < -reach || distance > reach) return std::nullopt;
  return distance < 0 ? Side::kBelow : distance == 0 ? Side::kAt : Side::kAbove;
}

std::optional<int64_t> boundary_element(Expression expression, Boundary boundary, DType dtype) {
  if (is_launch_limit(boundary)) return std::nullopt;
  return expression == Expression::kByteOffset ? value_of(boundary) / size_of(dtype) : value_of(boundary);
}

std::vector<Cell> cells_of(const Case& c, const Decomposition& shape, const Dispatch& launched,
                           const std::vector<Interval>& looked_at, LaunchForm form) {
  std::vector<Cell> cells;
  const SizedLaunch& sized = launched.sized;
  const ExpressionValues values = largest_values(shape, sized, c.dtype);
  for (const Expression expression : expressions_of(sized.variant)) {
    for (const Boundary boundary : boundaries_of(expression, sized.variant, c.implementation, launched.index_type)) {
      const auto value = bounded_value(values, sized.launch, expression, boundary);
      const auto side = value ? side_of(*value, boundary) : std::nullopt;
      if (!side) continue;
      const auto push = [&](Location location, int64_t first, int64_t last) {
        if (!looked_at_any(looked_at, first, last)) return;
        cells.push_back({sized.path, sized.variant, !is_forward(c.operation), launched.index_type, expression, boundary,
                         *side, location, form});
      };
      push(Location::kStart, 0, 0);
      const auto element = boundary_element(expression, boundary, c.dtype);
      if (element && *element < shape.numel()) push(Location::kBoundary, *element, *element + 1);
      push(Location::kEnd, shape.numel() - 1, shape.numel() - 1);
    }
  }
  std::sort(cells.begin(), cells.end());
  return cells;
}

namespace {

std::optional<Dispatch> rejected_launch(Implementation implementation, const Decomposition& shape, Operation operation,
                                        DType dtype) {
  FixedOccupancy everything(kHostResidentBlocks);
  implementation.build = Build::kPlain;
  implementation.helper = LaunchHelper::kChecked;
  auto wanted = dispatch(implementation, shape, operation, dtype, everything);
  auto* launch = std::get_if<Dispatch>(&wanted);
  if (launch == nullptr) return std::nullopt;
  launch->sized.form = LaunchForm::kRejected;
  return *launch;
}

}  // namespace

std::optional<Dispatch> counted_launch(const Implementation& implementation, const Decomposition& shape,
                                       Operation operation, DType dtype, OccupancyQuery& occupancy) {
  const auto decision = dispatch(implementation, shape, operation, dtype, occupancy);
  if (const auto* launch = std::get_if<Dispatch>(&decision)) {
    if (implementation.helper == LaunchHelper::kChecked) return *launch;
    const KernelId kernel = kernel_of(implementation, operation, dtype, *launch);
    if (launch_refusal(kernel, launch->sized.launch, occupancy).empty()) return *launch;
  } else if (std::get<NoDispatch>(decision).wrong_path) {
    return std::nullopt;
  }
  return rejected_launch(implementation, shape, operation, dtype);
}

std::optional<ReachedLaunch> reached_launch(const Case& c, const Decomposition& shape, const Execution& execution) {
  const Ending ending = execution.raw.ending;
  if (ending == Ending::kNotExecuted || shape.numel() == 0) return {};
  const std::vector<Interval> everything = {{0, shape.numel() - 1}};
  const auto launched = ending == Ending::kLaunchRejected
                            ? rejected_launch(c.implementation, shape, c.operation, c.dtype)
                            : execution.reached();
  if (!launched) return {};
  return ReachedLaunch{*launched, ending == Ending::kCompleted ? execution.raw.looked_at : everything};
}

std::vector<Cell> cells_reached(const Case& c, const Decomposition& shape, const Execution& execution) {
  const auto reached = reached_launch(c, shape, execution);
  if (!reached) return {};
  return cells_of(c, shape, reached->launched, reached->looked_at, reached->launched.sized.form);
}

}  // namespace brink
