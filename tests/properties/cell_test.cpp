#include "properties/cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "properties/outcome.h"
#include "properties/windows.h"

namespace brink {
namespace {

using testing::AnyOf;
using testing::StartsWith;

Case case_of(std::vector<int64_t> shape, int64_t axis, std::string_view implementation) {
  Case c;
  c.shape = std::move(shape);
  c.axis = axis;
  c.implementation = *parse_implementation(implementation);
  return c;
}

struct Predicted {
  Decomposition shape;
  Dispatch dispatch;
  std::vector<Interval> windows;
};

Predicted predicted(const Case& c) {
  Predicted result;
  result.shape = std::get<Decomposition>(decompose(c));
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  result.dispatch = counted_launch(c.implementation, result.shape, c.operation, c.dtype, occupancy).value();
  result.windows = choose_windows(c, result.shape, predict(c, occupancy, Engine::kSymbolic));
  return result;
}

std::vector<std::string> texts(const std::vector<Cell>& cells) {
  std::vector<std::string> result;
  for (const Cell& cell : cells) result.push_back(to_text(cell));
  return result;
}

TEST(Cell, TextNamesEveryPart) {
  const Cell cell{Path::kSpatial,   Variant::kColumns, true,           IndexType::kU32,      Expression::kElementOffset,
                  Boundary::k32Bit, Side::kAbove,      Location::kEnd, LaunchForm::kResident};
  EXPECT_EQ(to_text(cell), "spatial/columns backward u32 element_offset 2^32-1 above end resident");
}

TEST(Cell, SideIsLimitedToItsReach) {
  const Exact at = value_of(Boundary::k32Bit);
  EXPECT_EQ(side_of(at, Boundary::k32Bit), Side::kAt);
  EXPECT_EQ(side_of(at - 4096, Boundary::k32Bit), Side::kBelow);
  EXPECT_EQ(side_of(at - 4097, Boundary::k32Bit), std::nullopt);
  EXPECT_EQ(side_of(at + 4096, Boundary::k32Bit), Side::kAbove);
  EXPECT_EQ(side_of(at + 4097, Boundary::k32Bit), std::nullopt);
  EXPECT_EQ(side_of(127 + 16, Boundary::kI8Max), Side::kAbove);
  EXPECT_EQ(side_of(127 + 17, Boundary::kI8Max), std::nullopt);
}

TEST(Cell, SeedCaseIsAboveTheBoundaryOfItsElementOffset) {
  // pytorch#188031: 2 * 2147483649 elements end 3 past 2^32 - 1.
  const Case c = case_of({1, 2, 2147483649}, 1, "spatial/u32");
  const Predicted p = predicted(c);
  const auto cells = texts(cells_of(c, p.shape, p.dispatch, p.windows, LaunchForm::kResident));
  for (const char* location : {"start", "boundary", "end"}) {
    EXPECT_THAT(cells, testing::Contains(std::string("spatial/columns backward u32 element_offset 2^32-1 above ") +
                                         location + " resident"));
  }
  EXPECT_THAT(cells, testing::Contains("spatial/columns backward u32 outer_stride 2^32-1 above end resident"));
}

TEST(Cell, LocationsThatNobodyLookedAtAreNotReached) {
  const Case c = case_of({1, 2, 2147483649}, 1, "spatial/u32");
  const Predicted p = predicted(c);
  for (const Cell& cell : cells_of(c, p.shape, p.dispatch, {{0, 5}}, LaunchForm::kResident)) {
    EXPECT_EQ(cell.location, Location::kStart) << to_text(cell);
  }
  EXPECT_TRUE(cells_of(c, p.shape, p.dispatch, {{100, 200}}, LaunchForm::kResident).empty());
}

TEST(Cell, ScaleModelsAreCountedAtTheirOwnBoundary) {
  const Case c = case_of({128}, 0, "last_dim/i8");
  const Decomposition shape{1, 128, 1};
  const auto cells = cells_reached(c, shape, execute_on_host(c, {}));
  ASSERT_FALSE(cells.empty());
  EXPECT_TRUE(std::is_sorted(cells.begin(), cells.end()));
  for (const Cell& cell : cells) EXPECT_EQ(cell.boundary, Boundary::kI8Max);
  EXPECT_THAT(texts(cells), testing::Contains("last_dim/block backward i8 dim_size i8_max above end resident"));
}

TEST(Cell, WhatWasNotExecutedReachesNothing) {
  const Case c = case_of({2, 2147483649}, 0, "last_dim/u32");
  const Execution execution = execute_on_host(c, {{0, 5}});
  EXPECT_EQ(execution.raw.ending, Ending::kNotExecuted);
  EXPECT_TRUE(cells_reached(c, {1, 2, 2147483649}, execution).empty());
}

TEST(Cell, LaunchFormsOfRunsAreCounted) {
  struct Expected {
    const char* implementation;
    std::vector<int64_t> shape;
    LaunchForm form;
  };
  // 2^31 - 1 columns, or slices of two columns: the outer size is at a boundary, and so is the dim_size of the last.
  const Expected table[] = {
      {"spatial/i64", {1, 2, 2147483647}, LaunchForm::kResident},
      {"spatial/i64_pressure", {1, 2, 2147483647}, LaunchForm::kReducedY},
      {"spatial/i64_shrink_y_only", {1, 2, 2147483647}, LaunchForm::kReducedY},
      {"spatial/i64_ask_once", {1, 2, 2147483647}, LaunchForm::kRejected},
      {"spatial/i64_pressure", {1048575, 2048, 2}, LaunchForm::kReducedX},
      {"spatial/i64_shrink_y_only", {1048575, 2048, 2}, LaunchForm::kRejected},
      {"last_dim/i64_pressure", {262144, 8192}, LaunchForm::kReducedX},
      {"last_dim/i64_ask_once", {262144, 8192}, LaunchForm::kRejected},
  };
  for (const Expected& e : table) {
    const Case c = case_of(e.shape, 1, e.implementation);
    const Decomposition shape = std::get<Decomposition>(decompose(c));
    FixedOccupancy occupancy = host_occupancy(c.implementation);
    const auto windows = choose_windows(c, shape, predict(c, occupancy, Engine::kSymbolic));
    const auto cells = cells_reached(c, shape, execute_on_host(c, windows));
    EXPECT_FALSE(cells.empty()) << e.implementation;
    for (const Cell& cell : cells) EXPECT_EQ(cell.launch_form, e.form) << e.implementation << ": " << to_text(cell);
  }
}

TEST(Cell, ALaunchIsCountedInTheFormThatItCameAbout) {
  const Case c = case_of({1, 2, 2147483649}, 1, "spatial/u32");
  const Predicted p = predicted(c);
  Execution execution;
  execution.launched = p.dispatch;
  execution.raw.ending = Ending::kCompleted;
  execution.raw.looked_at = p.windows;
  for (const Cell& cell : cells_reached(c, p.shape, execution)) EXPECT_EQ(cell.launch_form, LaunchForm::kResident);
  for (const LaunchForm form : {LaunchForm::kReducedY, LaunchForm::kReducedX}) {
    execution.launched->sized.form = form;
    const auto reduced = cells_reached(c, p.shape, execution);
    EXPECT_FALSE(reduced.empty());
    for (const Cell& cell : reduced) EXPECT_EQ(cell.launch_form, form);
  }
  execution.launched.reset();
  execution.raw = {};
  execution.raw.ending = Ending::kLaunchRejected;
  const auto rejected = cells_reached(c, p.shape, execution);
  EXPECT_FALSE(rejected.empty());
  for (const Cell& cell : rejected) EXPECT_EQ(cell.launch_form, LaunchForm::kRejected);
}

class AllCells : public testing::TestWithParam<Device> {};
INSTANTIATE_TEST_SUITE_P(Devices, AllCells, testing::Values(Device::kHost, Device::kCuda),
                         [](const auto& device) { return std::string(name_of(device.param)); });

TEST_P(AllCells, AreInOrderAndEachIsReachableOrHasAReason) {
  const auto cells = all_cells(GetParam());
  int reachable = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) {
      ASSERT_LT(cells[i - 1].cell, cells[i].cell);
    }
    reachable += cells[i].reachable() ? 1 : 0;
    if (cells[i].reachable()) {
      ASSERT_EQ(cells[i].reason, "");
    } else {
      ASSERT_THAT(cells[i].reason, AnyOf(StartsWith("impossible: "), StartsWith("beyond this device: ")))
          << to_text(cells[i].cell);
    }
  }
  EXPECT_GT(reachable, 1000);
  EXPECT_LT(cells.size(), 20000u);
}

TEST(SlowAllCellsOfTheHost, AreTheSameEachTimeAndTheirWitnessesReachThem) {
  const auto cells = all_cells(Device::kHost);
  const auto again = all_cells(Device::kHost);
  ASSERT_EQ(cells.size(), again.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    const CellStatus& status = cells[i];
    ASSERT_EQ(status.witness, again[i].witness);
    if (!status.reachable()) continue;
    const Predicted p = predicted(*status.witness);
    const auto reached = cells_of(*status.witness, p.shape, p.dispatch, p.windows, p.dispatch.sized.form);
    ASSERT_TRUE(std::binary_search(reached.begin(), reached.end(), status.cell)) << to_text(status.cell) << "\n"
                                                                                 << to_text(*status.witness);
  }
}

TEST_P(AllCells, EachLaunchFormIsReachedWhereAVariantCanHaveIt) {
  std::map<std::pair<Variant, LaunchForm>, int> reachable;
  for (const CellStatus& status : all_cells(GetParam())) {
    if (status.reachable()) ++reachable[{status.cell.variant, status.cell.launch_form}];
  }
  for (const Variant variant : {Variant::kBlock, Variant::kColumns, Variant::kReduce}) {
    const auto count = [&](LaunchForm form) { return reachable[{variant, form}]; };
    EXPECT_GT(count(LaunchForm::kResident), 100) << name_of(variant);
    EXPECT_GT(count(LaunchForm::kRejected), 50) << name_of(variant);
    EXPECT_EQ(count(LaunchForm::kReducedY) > 50, variant != Variant::kBlock) << name_of(variant);
    EXPECT_EQ(count(LaunchForm::kReducedX) > 50, variant != Variant::kColumns) << name_of(variant);
  }
}

TEST(AllCellsOfTheHost, TheSeedCasesCellIsAmongThem) {
  for (const CellStatus& status : all_cells(Device::kHost)) {
    if (to_text(status.cell) == "spatial/columns backward u32 element_offset 2^32-1 above end resident") {
      EXPECT_TRUE(status.reachable()) << status.reason;
      return;
    }
  }
  FAIL() << "not listed";
}

}  // namespace
}  // namespace brink
