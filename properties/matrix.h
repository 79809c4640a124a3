#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "properties/cell.h"
#include "properties/oracle.h"

// What a whole suite of tests is measured by: for each way to go through the code, how far the offsets went and where
// one looked. Coarser than the cells of cell.h, which stand for single expressions, and wider: it has the axes that no
// expression knows of.

namespace brink {

/// Where an output was looked at: its first element, the elements that a boundary parts, its last element.
enum class Place { kStart, k31Bit, k32Bit, kEnd };

inline constexpr Place kPlaces[] = {Place::kStart, Place::k31Bit, Place::k32Bit, Place::kEnd};

std::string_view name_of(Place place);

struct MatrixCell {
  Path path = Path::kLastDim;
  Variant variant = Variant::kWarp;
  bool backward = false;
  bool axis_is_last = true;
  bool inner_is_one = true;
  bool above_signed = false;    ///< the last element's offset exceeds 2^31 - 1
  bool above_unsigned = false;  ///< it exceeds 2^32 - 1
  Place place = Place::kStart;
  std::string implementation;
  IndexType index_type = IndexType::kI64;  ///< the one that the offsets are really computed in
  LaunchForm launch_form = LaunchForm::kResident;
  DType dtype = DType::kF16;
  MemoryKind memory = MemoryKind::kSparse;

  auto operator<=>(const MatrixCell&) const = default;
};

/// For example "spatial/columns backward non-last inner>1 >2^32-1 end spatial/u32 u32 resident f16 sparse".
std::string to_text(const MatrixCell& cell);

/// Cells that a launch reaches where the elements of `looked_at` (sorted, disjoint) are looked at. None for scale
/// models and empty shapes.
std::vector<MatrixCell> matrix_cells_of(const Case& c, const Decomposition& shape, const Dispatch& launched,
                                        const std::vector<Interval>& looked_at, LaunchForm form);

/// Cells that a run reached, by the rules of cells_reached().
std::vector<MatrixCell> matrix_cells_reached(const Case& c, const Decomposition& shape, const Execution& execution);

/// The execution that a prediction stands for, so that what a case would reach is counted as what a run reached is.
Execution as_predicted(const Case& c, const Decomposition& shape, const Prediction& prediction);

/// Whose cells the matrix lists: the true-width implementations, and those that take the other launch forms.
std::vector<Implementation> matrix_implementations();

/// The simplest shapes of a variant: a small one; the largest whose offsets stay within 2^31 - 1 and the smallest whose
/// do not; the same for 2^32 - 1. Operation, dtype, implementation and memory are left as they are by default.
std::vector<Case> simplest_shapes(Variant variant);

/// In the order in which they count: a cell is what its worst run says of it.
enum class CellState {
  kFailed,        ///< reached, and wrong there
  kOk,            ///< reached, and right
  kNotExecuted,   ///< predicted to be reached by a case that was not executed
  kNeverReached,  ///< some shape reaches it; no case was to
  kUnreachable,   ///< no shape reaches it on this device
};

std::string_view name_of(CellState state);

struct MatrixEntry {
  CellState state = CellState::kNeverReached;
  std::string reason;  ///< kNotExecuted: why; kUnreachable: the proof, or what is beyond this device

  bool operator==(const MatrixEntry&) const = default;
};

/// Every cell and its state.
class Matrix {
 public:
  Matrix() = default;
  /// Every cell of matrix_implementations() on a device, never reached or unreachable. Reachable are those that one of
  /// simplest_shapes() reaches.
  explicit Matrix(Device device);

  /// Cells that a run reached; `ok`: it was as it had to be.
  void reached(const std::vector<MatrixCell>& cells, bool ok);
  /// Cells that a case was to reach which was not executed.
  void not_executed(const std::vector<MatrixCell>& cells, const std::string& reason);

  const std::map<MatrixCell, MatrixEntry>& cells() const { return cells_; }
  /// Combinations of the axes that are not listed as cells, since what the axes mean excludes them, or since no shape
  /// here comes to them: one line each, with the proof.
  const std::vector<std::string>& exclusions() const { return exclusions_; }

 private:
  void settle(const MatrixCell& cell, MatrixEntry entry);
  std::map<MatrixCell, MatrixEntry> cells_;
  std::vector<std::string> exclusions_;
};

}  // namespace brink
