#include "fuzz/boundary_counters.h"

#include <gtest/gtest.h>

#include <set>

#include "properties/generator.h"

// As libFuzzer finds the array: the linker marks its ends.
extern "C" uint8_t __start___libfuzzer_extra_counters[];
extern "C" uint8_t __stop___libfuzzer_extra_counters[];

namespace brink {
namespace {

Case columns_case(int64_t inner) {
  Case c;
  c.shape = {1, 2, inner};
  c.axis = 1;
  c.implementation = *parse_implementation("spatial/u32");
  return c;
}

std::vector<size_t> counters_of(const Case& c) {
  const auto shape = std::get<Decomposition>(decompose(c));
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  const auto decision = dispatch(c.implementation, shape, c.operation, c.dtype, occupancy);
  const auto* launch = std::get_if<Dispatch>(&decision);
  return launch == nullptr ? std::vector<size_t>() : distance_counters(c, shape, *launch);
}

TEST(BoundaryCounters, DistancesHaveTheirBuckets) {
  const int64_t at = value_of(Boundary::k32Bit);
  std::set<size_t> near;
  for (const int64_t distance : {-8, -2, -1, 0, 1, 2, 8}) near.insert(distance_bucket(at + distance, Boundary::k32Bit));
  EXPECT_EQ(near.size(), 7u);
  EXPECT_EQ(distance_bucket(at - 2, Boundary::k32Bit), distance_bucket(at - 7, Boundary::k32Bit));
  EXPECT_NE(distance_bucket(at - 2, Boundary::k32Bit), distance_bucket(at + 2, Boundary::k32Bit));
  // From afar each doubling or two counts as closer.
  std::set<size_t> far;
  for (int64_t value = 1; value < at; value *= 4) far.insert(distance_bucket(value, Boundary::k32Bit));
  EXPECT_EQ(far.size(), 16u);
}

TEST(BoundaryCounters, CrossingABoundaryMovesTheCounterOfItsExpression) {
  // numel 2^32, whose last offset is the boundary, and two elements more.
  const auto at = counters_of(columns_case(int64_t{1} << 31));
  const auto above = counters_of(columns_case((int64_t{1} << 31) + 1));
  EXPECT_NE(at, above);
  EXPECT_EQ(at, counters_of(columns_case(int64_t{1} << 31)));
}

TEST(BoundaryCounters, FarShapesThatDifferLittleCountAlike) {
  EXPECT_EQ(counters_of(columns_case(100'000)), counters_of(columns_case(100'001)));
}

TEST(BoundaryCounters, DirectionsAndIndexTypesCountApart) {
  Case c = columns_case(int64_t{1} << 31);
  const auto backward = counters_of(c);
  c.operation = Operation::kSoftmaxForward;
  const auto forward = counters_of(c);
  c.implementation = *parse_implementation("spatial/i64");
  const auto wide = counters_of(c);
  std::set<size_t> all(backward.begin(), backward.end());
  all.insert(forward.begin(), forward.end());
  all.insert(wide.begin(), wide.end());
  EXPECT_EQ(all.size(), backward.size() + forward.size() + wide.size());
}

TEST(BoundaryCounters, LibFuzzerSeesWhatIsSet) {
  ASSERT_EQ(__stop___libfuzzer_extra_counters - __start___libfuzzer_extra_counters,
            static_cast<std::ptrdiff_t>(kBoundaryCounters));
  const size_t counter = 1234;
  EXPECT_EQ(__start___libfuzzer_extra_counters[counter], 0);
  set_counters({counter});
  EXPECT_EQ(__start___libfuzzer_extra_counters[counter], 1);
  __start___libfuzzer_extra_counters[counter] = 0;
}

TEST(BoundaryCounters, EveryCaseHasCountersWithinTheArray) {
  GeneratorOptions options;
  options.implementations = all_implementations();
  options.exact_prime = false;
  for (const Case& c : generate_cases(9, 5000, options)) {
    const auto shape = std::get<Decomposition>(decompose(c));
    if (shape.numel() == 0) continue;
    FixedOccupancy occupancy = host_occupancy(c.implementation);
    const auto decision = dispatch(c.implementation, shape, c.operation, c.dtype, occupancy);
    const auto* launch = std::get_if<Dispatch>(&decision);
    if (launch == nullptr) continue;
    const auto distances = distance_counters(c, shape, *launch);
    const auto cells = cell_counters(cells_of(c, shape, *launch, {{0, shape.numel() - 1}}, LaunchForm::kResident));
    ASSERT_FALSE(distances.empty()) << to_text(c);
    std::set<size_t> all(distances.begin(), distances.end());
    all.insert(cells.begin(), cells.end());
    ASSERT_EQ(all.size(), distances.size() + cells.size()) << to_text(c);
    ASSERT_LT(*all.rbegin(), kBoundaryCounters) << to_text(c);
  }
}

}  // namespace
}  // namespace brink
