#include "kernels/execution/interval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

namespace brink {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

std::vector<Interval> intervals_of(const std::set<int64_t>& addresses) {
  std::vector<Interval> result;
  for (const int64_t n : addresses) {
    if (!result.empty() && result.back().last + 1 == n) {
      result.back().last = n;
    } else {
      result.push_back({n, n});
    }
  }
  return result;
}

TEST(Interval, OverlappingAndTouchingOnesAreJoined) {
  EXPECT_THAT(normalized({{5, 9}, {0, 3}, {4, 4}}), ElementsAre(Interval{0, 9}));
  EXPECT_THAT(normalized({{0, 9}, {2, 3}, {11, 12}}), ElementsAre(Interval{0, 9}, Interval{11, 12}));
  EXPECT_THAT(normalized({{7, 7}, {7, 7}}), ElementsAre(Interval{7, 7}));
}

TEST(Interval, EmptyOnesAreDropped) {
  EXPECT_THAT(normalized({}), IsEmpty());
  EXPECT_THAT(normalized({{3, 2}, {0, -1}, Interval()}), IsEmpty());
  EXPECT_THAT(normalized({{3, 2}, {8, 8}}), ElementsAre(Interval{8, 8}));
}

TEST(Interval, NegativeAddressesComeFirst) {
  EXPECT_THAT(normalized({{0, 4}, {-128, -57}, {-56, -50}}), ElementsAre(Interval{-128, -50}, Interval{0, 4}));
}

TEST(Interval, TheEndsOfInt64AreNoSpecialCase) {
  EXPECT_THAT(normalized({{kMax, kMax}, {kMax - 1, kMax}, {kMin, kMin}}),
              ElementsAre(Interval{kMin, kMin}, Interval{kMax - 1, kMax}));
}

TEST(Interval, NormalizedKeepsTheAddressesOfRandomIntervals) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Interval> intervals;
    std::set<int64_t> expected;
    for (auto i = random() % 8; i > 0; --i) {
      const int64_t first = static_cast<int64_t>(random() % 60) - 30;
      const int64_t last = first + static_cast<int64_t>(random() % 8) - 1;
      intervals.push_back({first, last});
      for (int64_t n = first; n <= last; ++n) expected.insert(n);
    }
    ASSERT_EQ(normalized(intervals), intervals_of(expected));
  }
}

TEST(IntervalSet, HoldsWhatWasInsertedInAnyOrder) {
  std::mt19937 random(6);
  for (int round = 0; round < 500; ++round) {
    IntervalSet set;
    std::set<int64_t> expected;
    int64_t near = 0;
    for (auto i = random() % 60; i > 0; --i) {
      // Mostly neighbours of the last one, upwards and downwards, as a kernel touches them.
      near = random() % 4 == 0 ? static_cast<int64_t>(random() % 200) - 100 : near + (random() % 2 == 0 ? 1 : -1);
      const int64_t last = near + (random() % 3 == 0 ? static_cast<int64_t>(random() % 9) : 0);
      set.insert(near, last);
      for (int64_t n = near; n <= last; ++n) expected.insert(n);
    }
    ASSERT_EQ(set.intervals(), intervals_of(expected));
    ASSERT_EQ(set.empty(), expected.empty());
  }
}

TEST(IntervalSet, TidiesItselfWithoutLosingAnything) {
  IntervalSet set;
  for (int64_t n = 0; n < 40000; ++n) set.insert(n % 2 == 0 ? n : 100000 - n);  // never the neighbour of the last one
  std::set<int64_t> expected;
  for (int64_t n = 0; n < 40000; ++n) expected.insert(n % 2 == 0 ? n : 100000 - n);
  EXPECT_EQ(set.intervals(), intervals_of(expected));
  set.clear();
  EXPECT_TRUE(set.empty());
  EXPECT_THAT(set.intervals(), IsEmpty());
}

}  // namespace
}  // namespace brink
