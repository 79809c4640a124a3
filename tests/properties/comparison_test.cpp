#include "properties/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "properties/input_windows.h"
#include "properties/windows.h"

namespace brink {
namespace {

// Memory that does not count writes, as a GPU's: element 0 of a case whose row is too long to work out its values.
TEST(Comparison, AContendedElementOfALongRowCountsAsContendedWhateverItHolds) {
  Case c;
  c.shape = {3, 2147482839};
  c.axis = 1;
  c.dtype = DType::kF32;
  c.implementation = *parse_implementation("last_dim/i32");
  c.memory = MemoryKind::kAliased;
  const auto shape = std::get<Decomposition>(decompose(c));
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  const Prediction prediction = predict(c, occupancy);
  ASSERT_TRUE(contains(prediction.contended, position_of(shape, 7)));
  Execution execution;
  execution.launched = Dispatch{*prediction.index_type, {prediction.path, *prediction.variant, *prediction.launch}};
  execution.raw.ending = Ending::kCompleted;
  execution.raw.looked_at = {{0, 9}};
  execution.raw.wrong = {{7, 7}};
  execution.raw.values = {{7, 0x42c80000}};

  const Outcome observed = outcome_of(c, shape, prediction, execution);

  EXPECT_TRUE(observed.wrong.empty());
  EXPECT_EQ(count_elements(observed.contended), 10);
}

// The same memory where the writers' values are known: a value of none of them is wrong.
TEST(Comparison, AContendedElementThatHoldsNoWritersValueIsWrong) {
  Case c;
  c.shape = {1, 2, 2147483649};
  c.axis = 1;
  c.implementation = *parse_implementation("spatial/u32");
  c.memory = MemoryKind::kAliased;
  const auto shape = std::get<Decomposition>(decompose(c));
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  const Prediction prediction = predict(c, occupancy);
  Execution execution;
  execution.launched = Dispatch{*prediction.index_type, {prediction.path, *prediction.variant, *prediction.launch}};
  execution.raw.ending = Ending::kCompleted;
  execution.raw.looked_at = {{0, 9}};
  execution.raw.wrong = {{1, 1}};
  execution.raw.values = {{1, 0x7bff}};

  const Outcome observed = outcome_of(c, shape, prediction, execution);

  EXPECT_EQ(count_elements(observed.wrong), 1);
  EXPECT_EQ(count_elements(observed.contended), 1);
  EXPECT_THAT(differences(c, shape, prediction, execution, observed), testing::Not(testing::IsEmpty()));
}

// A writer's wrapped column leaves the windows, and reads the filler there.
TEST(Comparison, TheWritersOfAContendedElementReadWhatAliasedMemoryHolds) {
  Case c;
  c.shape = {3, 4, 2, 2, 53687092, 2, 2};
  c.axis = 3;
  c.implementation = *parse_implementation("spatial/u32");
  c.memory = MemoryKind::kAliased;
  const auto shape = std::get<Decomposition>(decompose(c));
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  const Prediction prediction = predict(c, occupancy);
  const Dispatch dispatch{*prediction.index_type, {prediction.path, *prediction.variant, *prediction.launch}};
  const Launching launching{shape, c.operation, c.dtype, closed_form_of(c, shape), c.memory, dispatch};
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
  Execution execution;
  execution.launched = dispatch;
  execution.raw.ending = Ending::kCompleted;
  execution.raw.looked_at = {{kElement, kElement}};
  execution.raw.wrong = execution.raw.looked_at;
  execution.raw.values = {{kElement, *only_held}};

  EXPECT_TRUE(outcome_of(c, shape, prediction, execution).wrong.empty());

  c.memory = MemoryKind::kDense;
  EXPECT_FALSE(outcome_of(c, shape, prediction, execution).wrong.empty());
}

}  // namespace
}  // namespace brink
