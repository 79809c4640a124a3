#include "properties/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "properties/input_windows.h"
#include "properties/windows.h"

namespace brink {
namespace {

// A case in memory that does not count writes, as a GPU's: what is launched is what was predicted.
struct Run {
  Case c;
  Decomposition shape;
  Prediction prediction;
  Execution execution;
};

Run run_of(std::vector<int64_t> shape, int64_t axis, std::string_view implementation, DType dtype = DType::kF16) {
  Run run;
  run.c.shape = std::move(shape);
  run.c.axis = axis;
  run.c.dtype = dtype;
  run.c.implementation = *parse_implementation(implementation);
  run.c.memory = MemoryKind::kAliased;
  run.shape = std::get<Decomposition>(decompose(run.c));
  FixedOccupancy occupancy = host_occupancy(run.c.implementation);
  run.prediction = predict(run.c, occupancy);
  run.execution.launched = planned_launch(run.prediction);
  run.execution.raw.ending = Ending::kCompleted;
  return run;
}

// An element of a row that is too long to work out its values.
TEST(Comparison, AContendedElementOfALongRowCountsAsContendedWhateverItHolds) {
  auto [c, shape, prediction, execution] = run_of({3, 2147482839}, 1, "last_dim/i32", DType::kF32);
  ASSERT_TRUE(contains(prediction.contended, position_of(shape, 7)));
  execution.raw.looked_at = {{0, 9}};
  execution.raw.wrong = {{7, 7}};
  execution.raw.values = {{7, 0x42c80000}};

  const Outcome observed = outcome_of(c, shape, prediction, execution);

  EXPECT_TRUE(observed.wrong.empty());
  EXPECT_EQ(count_elements(observed.contended), 10);
}

// The same memory where the writers' values are known: a value of none of them is wrong.
TEST(Comparison, AContendedElementThatHoldsNoWritersValueIsWrong) {
  auto [c, shape, prediction, execution] = run_of({1, 2, 2147483649}, 1, "spatial/u32");
  execution.raw.looked_at = {{0, 9}};
  execution.raw.wrong = {{1, 1}};
  execution.raw.values = {{1, 0x7bff}};

  const Outcome observed = outcome_of(c, shape, prediction, execution);

  EXPECT_EQ(count_elements(observed.wrong), 1);
  EXPECT_EQ(count_elements(observed.contended), 1);
  EXPECT_THAT(differences(c, shape, prediction, execution, observed), testing::Not(testing::IsEmpty()));
}

// More wrong elements than values are kept.
TEST(Comparison, BeyondTheValuesKeptAPlaceSaysWhetherAnElementIsContended) {
  auto [c, shape, prediction, execution] = run_of({1, 2, 2147483649}, 1, "spatial/u32");
  execution.raw.looked_at = {{0, 9}};
  execution.raw.wrong = {{1, 3}};

  const Outcome observed = outcome_of(c, shape, prediction, execution);

  EXPECT_EQ(observed.contended, (std::vector<Box>{{{0, 0}, {0, 0}, {0, 1}}}));
  EXPECT_EQ(observed.wrong, (std::vector<Box>{{{0, 0}, {0, 0}, {2, 3}}}));
}

// A writer's wrapped column leaves the windows, and reads the filler there.
TEST(Comparison, TheWritersOfAContendedElementReadWhatAliasedMemoryHolds) {
  auto [c, shape, prediction, execution] = run_of({3, 4, 2, 2, 53687092, 2, 2}, 3, "spatial/u32");
  const Launching launching{shape, c.operation, c.dtype, closed_form_of(c, shape), c.memory, *execution.launched};
  const auto input = aliased_input(launching.form, input_windows(launching.form, choose_windows(c, shape, prediction)));
  constexpr int64_t kElement = 1717987047;  // one that an H200 once showed to hold the value of none of its writers
  const auto held = WriterValues(launching, 8, 8, input).of(kElement);
  const auto whole = WriterValues(launching, 8, 8).of(kElement);
  ASSERT_EQ(held.size(), whole.size());
  const auto only_held = std::find_if(held.begin(), held.end(), [&](uint64_t bits) {
    return std::find(whole.begin(), whole.end(), bits) == whole.end() &&
           bits != expected_bits(launching.form, kElement);
  });
  ASSERT_NE(only_held, held.end());
  execution.raw.looked_at = {{kElement, kElement}};
  execution.raw.wrong = execution.raw.looked_at;
  execution.raw.values = {{kElement, *only_held}};

  EXPECT_TRUE(outcome_of(c, shape, prediction, execution).wrong.empty());

  c.memory = MemoryKind::kDense;
  EXPECT_FALSE(outcome_of(c, shape, prediction, execution).wrong.empty());
}

}  // namespace
}  // namespace brink
