#include "properties/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "properties/generator.h"
#include "properties/windows.h"

namespace brink {

namespace {

constexpr int64_t kMax31 = limits_of(IndexType::kI32).max;
constexpr int64_t kMax32 = limits_of(IndexType::kU32).max;

bool looked_at_any(const std::vector<Interval>& looked_at, int64_t first, int64_t last) {
  return std::any_of(looked_at.begin(), looked_at.end(),
                     [&](const Interval& window) { return window.first <= last && first <= window.last; });
}

// The elements that a place is: the one that the boundary includes and the first that it does not.
Interval elements_of(Place place, int64_t numel) {
  switch (place) {
    case Place::kStart:
      return {0, 0};
    case Place::k31Bit:
      return {kMax31, kMax31 + 1};
    case Place::k32Bit:
      return {kMax32, kMax32 + 1};
    case Place::kEnd:
      break;
  }
  return {numel - 1, numel - 1};
}

// Whether a tensor of this range has the place.
bool has_place(const MatrixCell& cell) {
  if (cell.place == Place::k31Bit) return cell.above_signed;
  return cell.place != Place::k32Bit || cell.above_unsigned;
}

bool axis_is_last(const Case& c) { return c.axis == -1 || c.axis + 1 >= static_cast<int64_t>(c.shape.size()); }

std::vector<MemoryKind> memory_kinds(Device device) {
  if (device == Device::kCuda) return {MemoryKind::kDense, MemoryKind::kAliased};
  return {MemoryKind::kDense, MemoryKind::kAliased, MemoryKind::kSparse};
}

constexpr Variant kVariants[] = {Variant::kWarp, Variant::kBlock, Variant::kColumns, Variant::kReduce};

constexpr Path path_of_variant(Variant variant) {
  return variant == Variant::kWarp || variant == Variant::kBlock ? Path::kLastDim : Path::kSpatial;
}

// Why a tensor is too much for the device, or an empty string.
std::string beyond(Device device, MemoryKind memory, const Decomposition& shape) {
  constexpr int64_t kPasses = 3;  // over each element, at most
  if (device == Device::kCuda || memory == MemoryKind::kSparse || shape.numel() <= kHostWorkMax / kPasses) return "";
  return fmt::format("beyond this device: in {} memory the host runs every thread, {} element visits at most",
                     name_of(memory), kHostWorkMax);
}

// Why no shape takes this implementation to this range in this index type.
std::string proof(const Implementation& implementation, const MatrixCell& cell) {
  const IndexType own = implementation.index_type;
  const int64_t max = limits_of(own).max;
  if (cell.index_type == own) {
    return implementation.rule == WidthRule::kNumel
               ? fmt::format("impossible: {} takes i64 from {} elements on", cell.implementation, max)
               : fmt::format("impossible: {} takes i64 where an offset exceeds {}", cell.implementation, max);
  }
  if (own == IndexType::kU32 && !cell.above_signed) {
    return implementation.rule == WidthRule::kNumel
               ? fmt::format("impossible: {} takes {} below {} elements", cell.implementation, name_of(own), max)
               : "impossible: where offsets end at 2^31-1, so does a loop's step, and its counter at 2^32-1";
  }
  return "not found: none of the simplest shapes reaches it";
}

}  // namespace

std::string_view name_of(Place place) {
  switch (place) {
    case Place::kStart:
      return "start";
    case Place::k31Bit:
      return "2^31-1";
    case Place::k32Bit:
      return "2^32-1";
    case Place::kEnd:
      break;
  }
  return "end";
}

std::string_view name_of(CellState state) {
  switch (state) {
    case CellState::kFailed:
      return "failed";
    case CellState::kOk:
      return "ok";
    case CellState::kNotExecuted:
      return "not_executed";
    case CellState::kNeverReached:
      return "never_reached";
    case CellState::kUnreachable:
      break;
  }
  return "unreachable";
}

std::string to_text(const MatrixCell& cell) {
  return fmt::format("{}/{} {} {} {} {} {} {} {} {} {} {}", name_of(cell.path), name_of(cell.variant),
                     cell.backward ? "backward" : "forward", cell.axis_is_last ? "last" : "non-last",
                     cell.inner_is_one ? "inner=1" : "inner>1",
                     cell.above_unsigned ? ">2^32-1"
                     : cell.above_signed ? ">2^31-1"
                                         : "<=2^31-1",
                     name_of(cell.place), cell.implementation, name_of(cell.index_type), name_of(cell.launch_form),
                     name_of(cell.dtype), name_of(cell.memory));
}

std::vector<MatrixCell> matrix_cells_of(const Case& c, const Decomposition& shape, const Dispatch& launched,
                                        const std::vector<Interval>& looked_at, LaunchForm form) {
  std::vector<MatrixCell> cells;
  const int64_t numel = shape.numel();
  if (numel == 0 || c.implementation.scaled()) return cells;
  MatrixCell cell;
  cell.path = launched.sized.path;
  cell.variant = launched.sized.variant;
  cell.backward = !is_forward(c.operation);
  cell.axis_is_last = axis_is_last(c);
  cell.inner_is_one = shape.inner_size == 1;
  cell.above_signed = numel - 1 > kMax31;
  cell.above_unsigned = numel - 1 > kMax32;
  cell.implementation = c.implementation.name();
  cell.index_type = launched.index_type;
  cell.launch_form = form;
  cell.dtype = c.dtype;
  cell.memory = c.memory;
  for (const Place place : kPlaces) {
    cell.place = place;
    const Interval elements = elements_of(place, numel);
    if (has_place(cell) && looked_at_any(looked_at, elements.first, elements.last)) cells.push_back(cell);
  }
  return cells;
}

std::vector<MatrixCell> matrix_cells_reached(const Case& c, const Decomposition& shape, const Execution& execution) {
  const auto reached = reached_launch(c, shape, execution);
  return reached ? matrix_cells_of(c, shape, reached->launched, reached->looked_at, reached->launched.sized.form)
                 : std::vector<MatrixCell>();
}

Execution as_predicted(const Case& c, const Decomposition& shape, const Prediction& prediction) {
  Execution execution;
  if (prediction.verdict == Verdict::kLaunchRejected) execution.raw.ending = Ending::kLaunchRejected;
  if (prediction.verdict == Verdict::kNotExecuted || !prediction.launch) return execution;
  execution.launched = planned_launch(prediction);
  switch (prediction.verdict) {
    case Verdict::kHang:
      execution.raw.ending = Ending::kHang;
      break;
    case Verdict::kFault:
      execution.raw.ending = Ending::kFault;
      break;
    case Verdict::kLaunchRejected:  // the helper asks for a launch that the device refuses
      break;
    default:
      execution.raw.ending = Ending::kCompleted;
  }
  const bool whole = shape.numel() <= kWholeMax || c.memory == MemoryKind::kDense;
  execution.raw.looked_at =
      whole ? std::vector<Interval>{{0, shape.numel() - 1}} : choose_windows(c, shape, prediction);
  return execution;
}

std::vector<Implementation> matrix_implementations() {
  std::vector<Implementation> result = default_implementations();
  std::erase_if(result, [](const Implementation& i) { return i.scaled(); });
  return result;
}

std::vector<Case> simplest_shapes(Variant variant) {
  std::vector<Case> result;
  // One size grows; the others have a product that divides 2^31, so that a tensor can end right at the boundary.
  const auto add = [&](int64_t size) {
    Case c;
    switch (variant) {
      case Variant::kWarp:
        c.shape = {size, 1024};
        c.axis = 1;
        break;
      case Variant::kBlock:
        c.shape = {size, 2048};
        c.axis = 1;
        break;
      case Variant::kColumns:
        c.shape = {2, size};
        c.axis = 0;
        break;
      case Variant::kReduce:
        c.shape = {size, 64, 2};
        c.axis = 1;
        break;
    }
    result.push_back(std::move(c));
  };
  const int64_t others = variant == Variant::kWarp      ? 1024
                         : variant == Variant::kBlock   ? 2048
                         : variant == Variant::kColumns ? 2
                                                        : 128;
  add(3);
  for (const int64_t boundary : {kMax31, kMax32}) {
    add((boundary + 1) / others);
    add((boundary + 1) / others + 1);
  }
  return result;
}

Matrix::Matrix(Device device) {
  exclusions_ = {
      "axis last with inner_size above 1: impossible: no size lies behind the last axis",
      "last_dim with inner_size above 1, spatial with inner_size 1: impossible: inner_size selects the path",
      "offsets above 2^32-1 that are not above 2^31-1: impossible: the one includes the other",
      "2^31-1 or 2^32-1 looked at in a tensor that ends there or before: impossible: there is no element behind it",
      "a fixed-width implementation on the other path or with another index type: impossible: it has one of each",
  };
  if (device == Device::kCuda) exclusions_.push_back("memory sparse: beyond this device: a GPU has aliased and dense");
  std::set<std::pair<Variant, LaunchForm>> forms;
  std::map<MatrixCell, std::string> others;
  for (const Implementation& implementation : matrix_implementations()) {
    const auto occupancy = model_of(device, implementation);
    for (const Variant variant : kVariants) {
      if (implementation.path && *implementation.path != path_of_variant(variant)) continue;
      for (const Case& simplest : simplest_shapes(variant)) {
        for (const bool trailing_one : {false, true}) {
          if (trailing_one && path_of_variant(variant) == Path::kSpatial) continue;
          for (const Operation operation : {Operation::kSoftmaxForward, Operation::kSoftmaxBackward}) {
            for (const DType dtype : kDTypes) {
              Case c = simplest;
              if (trailing_one) c.shape.push_back(1);
              c.operation = operation;
              c.dtype = dtype;
              c.implementation = implementation;
              const auto shape = std::get<Decomposition>(decompose(c));
              const auto launched = counted_launch(implementation, shape, operation, dtype, *occupancy);
              if (!launched) continue;
              const std::vector<Interval> everywhere = {{0, shape.numel() - 1}};
              for (const MemoryKind memory : memory_kinds(device)) {
                c.memory = memory;
                const std::string reason = beyond(device, memory, shape);
                for (const MatrixCell& cell : matrix_cells_of(c, shape, *launched, everywhere, launched->sized.form)) {
                  forms.emplace(variant, cell.launch_form);
                  settle(cell, {reason.empty() ? CellState::kNeverReached : CellState::kUnreachable, reason});
                  if (implementation.path) continue;
                  // The other index type that it might take in this range.
                  MatrixCell other = cell;
                  other.index_type = cell.index_type == IndexType::kI64 ? implementation.index_type : IndexType::kI64;
                  others.emplace(other, proof(implementation, other));
                }
              }
            }
          }
        }
      }
    }
  }
  for (const auto& [cell, reason] : others) cells_.try_emplace(cell, MatrixEntry{CellState::kUnreachable, reason});
  for (const Variant variant : kVariants) {
    for (int i = 0; i <= static_cast<int>(LaunchForm::kRejected); ++i) {
      const auto form = static_cast<LaunchForm>(i);
      if (forms.contains({variant, form})) continue;
      exclusions_.push_back(
          fmt::format("{} in launch form {}: beyond this device: none of the simplest shapes is launched so; for each "
                      "expression's reason see brink list cells --all",
                      name_of(variant), name_of(form)));
    }
  }
}

void Matrix::reached(const std::vector<MatrixCell>& cells, bool ok) {
  for (const MatrixCell& cell : cells) settle(cell, {ok ? CellState::kOk : CellState::kFailed, ""});
}

void Matrix::not_executed(const std::vector<MatrixCell>& cells, const std::string& reason) {
  for (const MatrixCell& cell : cells) settle(cell, {CellState::kNotExecuted, reason});
}

void Matrix::settle(const MatrixCell& cell, MatrixEntry entry) {
  const auto [found, is_new] = cells_.try_emplace(cell, entry);
  if (!is_new && entry.state < found->second.state) found->second = std::move(entry);
}

}  // namespace brink
