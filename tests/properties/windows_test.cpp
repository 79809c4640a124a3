#include "properties/windows.h"

#include <gtest/gtest.h>

#include "properties/execution.h"
#include "properties/generator.h"

namespace brink {
namespace {

constexpr int64_t kTwo31 = int64_t{1} << 31;
constexpr int64_t kTwo32 = int64_t{1} << 32;

Case case_of(std::vector<int64_t> shape, int64_t axis, std::string_view implementation) {
  Case c;
  c.shape = std::move(shape);
  c.axis = axis;
  c.implementation = *parse_implementation(implementation);
  return c;
}

std::vector<Interval> windows_of(const Case& c) {
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  return choose_windows(c, std::get<Decomposition>(decompose(c)), predict(c, occupancy, Engine::kSymbolic));
}

bool seen(const std::vector<Interval>& windows, int64_t n) {
  for (const Interval& w : windows) {
    if (w.first <= n && n <= w.last) return true;
  }
  return false;
}

TEST(Windows, TheSeedsCaseIsLookedAtWhereItBreaks) {
  const auto windows = windows_of(case_of({1, 2, 2147483649}, 1, "spatial/u32"));
  const int64_t numel = kTwo32 + 2;
  for (const int64_t n : {int64_t{0}, int64_t{1}, numel - 1, numel - 2, kTwo31 - 1, kTwo31, kTwo32 - 1, kTwo32,
                          int64_t{2147483649} - 1, int64_t{2147483649}, kTwo31 / 2 - 1, kTwo31 / 2}) {
    EXPECT_TRUE(seen(windows, n)) << n;
  }
  int64_t elements = 0;
  for (const Interval& w : windows) elements += w.last - w.first + 1;
  EXPECT_LT(elements, 2000) << "a handful of elements is enough";
}

TEST(Windows, EveryPredictedSetIsLookedAt) {
  for (const char* implementation : {"spatial/u32", "spatial/i32"}) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{641, 6700417}, {3, 2, kTwo31 / 2 + 5}, {2, 5, 1000000007}}) {
      const Case c = case_of(shape, shape.size() == 2 ? 0 : 1, implementation);
      FixedOccupancy occupancy = host_occupancy(c.implementation);
      const auto sizes = std::get<Decomposition>(decompose(c));
      const Prediction p = predict(c, occupancy);
      const auto windows = choose_windows(c, sizes, p);
      for (const auto* boxes : {&p.wrong, &p.never_written, &p.contended}) {
        for (const Box& b : *boxes) {
          EXPECT_TRUE(seen(windows, linear_index(sizes, {b.outer.first, b.dim.first, b.inner.first}))) << to_text(c);
          EXPECT_TRUE(seen(windows, linear_index(sizes, {b.outer.last, b.dim.last, b.inner.last}))) << to_text(c);
        }
      }
    }
  }
}

TEST(Windows, TheEndsOfTheFirstRowsAreLookedAt) {
  const auto windows = windows_of(case_of({2, 3, 1000003}, 1, "dispatched"));
  for (int64_t row = 1; row <= 4; ++row) {
    EXPECT_TRUE(seen(windows, row * 1000003 - 1)) << row;
    EXPECT_TRUE(seen(windows, row * 1000003)) << row;
  }
}

TEST(Windows, WhereTheEndOfTheTensorWrapsToIsLookedAt) {
  const auto windows = windows_of(case_of({1, 2, kTwo31 + 5000000}, 1, "spatial/u32"));
  EXPECT_TRUE(seen(windows, 2 * 5000000 - 1));
}

TEST(Windows, AreSortedDisjointAndInsideTheTensor) {
  GeneratorOptions options;
  options.device = Device::kHost;
  options.exact_prime = false;
  for (const Case& c : generate_cases(17, 2000, options)) {
    const auto shape = std::get<Decomposition>(decompose(c));
    if (shape.numel() == 0) continue;
    const auto windows = windows_of(c);
    ASSERT_FALSE(windows.empty());
    ASSERT_EQ(normalized(windows), windows);
    ASSERT_GE(windows.front().first, 0) << to_text(c);
    ASSERT_LT(windows.back().last, shape.numel()) << to_text(c);
    ASSERT_TRUE(seen(windows, 0));
    ASSERT_TRUE(seen(windows, shape.numel() - 1));
  }
}

TEST(Windows, AnotherSeedLooksAtOtherPlaces) {
  Case c = case_of({1, 2, 2147483649}, 1, "dispatched");
  const auto first = windows_of(c);
  EXPECT_EQ(windows_of(c), first);
  c.seed = 1;
  EXPECT_NE(windows_of(c), first);
}

}  // namespace
}  // namespace brink
