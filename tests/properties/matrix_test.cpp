#include "properties/matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "properties/examine.h"

namespace brink {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

Case case_of(std::vector<int64_t> shape, int64_t axis, std::string_view implementation) {
  Case c;
  c.shape = std::move(shape);
  c.axis = axis;
  c.implementation = *parse_implementation(implementation);
  return c;
}

std::vector<std::string> texts(const std::vector<MatrixCell>& cells) {
  std::vector<std::string> result;
  for (const MatrixCell& cell : cells) result.push_back(to_text(cell));
  return result;
}

// What the case would reach where the elements of `looked_at` are looked at.
std::vector<MatrixCell> cells_at(const Case& c, const std::vector<Interval>& looked_at) {
  const auto shape = std::get<Decomposition>(decompose(c));
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  const auto decision = dispatch(c.implementation, shape, c.operation, c.dtype, occupancy);
  return matrix_cells_of(c, shape, std::get<Dispatch>(decision), looked_at, LaunchForm::kResident);
}

const Matrix& host() {
  static const Matrix matrix(Device::kHost);
  return matrix;
}

TEST(Matrix, TheReportedCaseReachesFourPlacesOfOneRow) {
  Examiner examiner(Device::kHost);
  const Examination e = examiner.examine(case_of({1, 2, 2147483649}, 1, "spatial/u32"));
  const std::string row = "spatial/columns backward non-last inner>1 >2^32-1 ";
  EXPECT_THAT(
      texts(matrix_cells_reached(e.c, e.shape, e.execution)),
      ElementsAre(row + "start spatial/u32 u32 resident f16 sparse", row + "2^31-1 spatial/u32 u32 resident f16 sparse",
                  row + "2^32-1 spatial/u32 u32 resident f16 sparse", row + "end spatial/u32 u32 resident f16 sparse"));
}

TEST(Matrix, TheShapeOfTheOldTestIsAnotherPathAndRange) {
  EXPECT_THAT(texts(cells_at(case_of({1, 1, 2147483650}, 2, "last_dim/i64"), {{0, 0}})),
              ElementsAre("last_dim/block backward last inner=1 >2^31-1 start last_dim/i64 i64 resident f16 sparse"));
}

TEST(Matrix, AnElementThatWasNotLookedAtIsNoPlace) {
  const Case c = case_of({2, 2147483649}, 0, "spatial/i64");
  const auto places = [&](const std::vector<Interval>& looked_at) {
    std::set<Place> result;
    for (const MatrixCell& cell : cells_at(c, looked_at)) result.insert(cell.place);
    return result;
  };
  EXPECT_THAT(places({{1, 2147483646}}), IsEmpty());
  EXPECT_THAT(places({{2147483647, 2147483647}}), ElementsAre(Place::k31Bit));
  EXPECT_THAT(places({{2147483648, 2147483648}}), ElementsAre(Place::k31Bit));
  EXPECT_THAT(places({{2147483649, 4294967294}}), IsEmpty());
  EXPECT_THAT(places({{4294967296, 4294967297}}), ElementsAre(Place::k32Bit, Place::kEnd));
}

TEST(Matrix, RangesEndWithTheLastOffsetThatFits) {
  const auto range = [](int64_t inner) {
    const auto cells = cells_at(case_of({2, inner}, 0, "spatial/i64"), {{0, 0}});
    return std::pair(cells.at(0).above_signed, cells.at(0).above_unsigned);
  };
  EXPECT_EQ(range(int64_t{1} << 30), std::pair(false, false));
  EXPECT_EQ(range((int64_t{1} << 30) + 1), std::pair(true, false));
  EXPECT_EQ(range(int64_t{1} << 31), std::pair(true, false));
  EXPECT_EQ(range((int64_t{1} << 31) + 1), std::pair(true, true));
}

TEST(Matrix, AxisAndInnerSizeAreAxesOfTheirOwn) {
  const auto axes = [](std::vector<int64_t> shape, int64_t axis) {
    const auto cells = cells_at(case_of(std::move(shape), axis, "dispatched"), {{0, 0}});
    return std::pair(cells.at(0).axis_is_last, cells.at(0).inner_is_one);
  };
  EXPECT_EQ(axes({3, 5}, 1), std::pair(true, true));
  EXPECT_EQ(axes({3, 5}, -1), std::pair(true, true));
  EXPECT_EQ(axes({3, 5, 1}, 1), std::pair(false, true));
  EXPECT_EQ(axes({3, 5, 1}, -2), std::pair(false, true));
  EXPECT_EQ(axes({3, 5, 2}, 1), std::pair(false, false));
}

TEST(Matrix, ScaleModelsEmptyTensorsAndWhatDidNotRunReachNothing) {
  EXPECT_THAT(cells_at(case_of({3, 5}, 0, "spatial/i8"), {{0, 14}}), IsEmpty());
  const Case c = case_of({1, 5}, 1, "spatial/u32");
  Examiner examiner(Device::kHost);
  const Examination e = examiner.examine(c);
  EXPECT_THAT(matrix_cells_reached(e.c, e.shape, e.execution), IsEmpty());
}

TEST(Matrix, EveryCellIsReachableOrProvedUnreachable) {
  int reachable = 0;
  for (const auto& [cell, entry] : host().cells()) {
    if (entry.state == CellState::kNeverReached) {
      EXPECT_EQ(entry.reason, "");
      ++reachable;
      continue;
    }
    ASSERT_EQ(entry.state, CellState::kUnreachable);
    EXPECT_THAT(entry.reason, AnyOf(StartsWith("impossible: "), StartsWith("beyond this device: "))) << to_text(cell);
  }
  EXPECT_GT(reachable, 1000);
}

TEST(Matrix, EveryReachableCellHasADistinctText) {
  std::set<std::string> texts;
  for (const auto& [cell, entry] : host().cells()) EXPECT_TRUE(texts.insert(to_text(cell)).second) << to_text(cell);
}

// A proof is a claim about every shape: generated cases must not refute it.
TEST(Matrix, NoPredictionReachesACellThatIsImpossible) {
  for (const CellStatus& status : all_cells(Device::kHost)) {
    if (!status.reachable()) continue;
    for (const char* name : {"dispatched", "dispatched/u32", "numel_rule", "numel_rule/u32"}) {
      Case c = *status.witness;
      c.implementation = *parse_implementation(name);
      const auto shape = std::get<Decomposition>(decompose(c));
      FixedOccupancy occupancy = host_occupancy(c.implementation);
      for (const MatrixCell& cell : matrix_cells_reached(c, shape, as_predicted(c, shape, predict(c, occupancy)))) {
        const auto found = host().cells().find(cell);
        ASSERT_NE(found, host().cells().end()) << to_text(cell);
        EXPECT_EQ(found->second.state, CellState::kNeverReached) << to_text(cell) << ": " << found->second.reason;
      }
    }
  }
}

TEST(Matrix, TheWorstRunCounts) {
  Matrix matrix(Device::kHost);
  const auto cells = cells_at(case_of({2, 3}, 0, "spatial/u32"), {{0, 5}});
  const auto state = [&] { return matrix.cells().at(cells.at(0)).state; };
  EXPECT_EQ(state(), CellState::kNeverReached);
  matrix.not_executed(cells, "no GPU");
  EXPECT_EQ(state(), CellState::kNotExecuted);
  EXPECT_EQ(matrix.cells().at(cells.at(0)).reason, "no GPU");
  matrix.reached(cells, true);
  EXPECT_EQ(state(), CellState::kOk);
  EXPECT_EQ(matrix.cells().at(cells.at(0)).reason, "");
  matrix.reached(cells, false);
  EXPECT_EQ(state(), CellState::kFailed);
  matrix.reached(cells, true);
  matrix.not_executed(cells, "no GPU");
  EXPECT_EQ(state(), CellState::kFailed);
}

TEST(Matrix, SimplestShapesLieOnBothSidesOfEachBoundary) {
  for (const Variant variant : {Variant::kWarp, Variant::kBlock, Variant::kColumns, Variant::kReduce}) {
    std::vector<int64_t> sizes;
    for (const Case& c : simplest_shapes(variant)) {
      const auto shape = std::get<Decomposition>(decompose(c));
      sizes.push_back(shape.numel());
      FixedOccupancy occupancy = host_occupancy(c.implementation);
      const auto decision = dispatch(c.implementation, shape, c.operation, c.dtype, occupancy);
      EXPECT_EQ(std::get<Dispatch>(decision).sized.variant, variant);
    }
    EXPECT_LT(sizes.at(0), 10000);
    EXPECT_EQ(sizes.at(1), int64_t{1} << 31);
    EXPECT_GT(sizes.at(2), int64_t{1} << 31);
    EXPECT_LT(sizes.at(2), (int64_t{1} << 31) + 4096);
    EXPECT_EQ(sizes.at(3), int64_t{1} << 32);
    EXPECT_GT(sizes.at(4), int64_t{1} << 32);
    EXPECT_LT(sizes.at(4), (int64_t{1} << 32) + 4096);
  }
}

}  // namespace
}  // namespace brink
