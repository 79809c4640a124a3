#include "properties/box.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace brink {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int64_t> elements_of(const Decomposition& shape, const std::vector<Box>& boxes) {
  std::vector<int64_t> result;
  for (const Box& box : boxes) {
    for (int64_t o = box.outer.first; o <= box.outer.last; ++o) {
      for (int64_t d = box.dim.first; d <= box.dim.last; ++d) {
        for (int64_t i = box.inner.first; i <= box.inner.last; ++i) result.push_back(linear_index(shape, {o, d, i}));
      }
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<int64_t> elements_of(const std::vector<Interval>& intervals) {
  std::vector<int64_t> result;
  for (const Interval& i : intervals) {
    for (int64_t n = i.first; n <= i.last; ++n) result.push_back(n);
  }
  return result;
}

std::vector<Decomposition> small_shapes() {
  std::vector<Decomposition> shapes;
  for (int64_t outer = 1; outer <= 4; ++outer) {
    for (int64_t dim = 1; dim <= 4; ++dim) {
      for (int64_t inner = 1; inner <= 4; ++inner) shapes.push_back({outer, dim, inner});
    }
  }
  return shapes;
}

// Fewest disjoint boxes that cover exactly the elements in `mask`, by search: the lowest element left is the lowest
// corner of some box.
class FewestBoxes {
 public:
  explicit FewestBoxes(const Decomposition& shape) : shape_(shape) {}
  int of(uint64_t mask, int most) {
    for (int count = 0; count < most; ++count) {
      if (coverable(mask, count)) return count;
    }
    return most;
  }

 private:
  bool coverable(uint64_t mask, int count) {
    if (mask == 0) return true;
    if (count == 0) return false;
    const Position at = position_of(shape_, __builtin_ctzll(mask));
    for (int64_t o = at.outer; o < shape_.outer_size; ++o) {
      for (int64_t d = at.dim; d < shape_.dim_size; ++d) {
        for (int64_t i = at.inner; i < shape_.inner_size; ++i) {
          uint64_t box = 0;
          for (const int64_t n : elements_of(shape_, {{{at.outer, o}, {at.dim, d}, {at.inner, i}}})) box |= 1ULL << n;
          if ((box & ~mask) != 0) break;
          if (coverable(mask & ~box, count - 1)) return true;
        }
      }
    }
    return false;
  }
  Decomposition shape_;
};

TEST(Box, BoxesOfAnIntervalCoverItExactlyOnce) {
  for (const Decomposition& shape : small_shapes()) {
    for (int64_t first = 0; first < shape.numel(); ++first) {
      for (int64_t last = first; last < shape.numel(); ++last) {
        const auto boxes = boxes_of(shape, {{first, last}});
        ASSERT_EQ(elements_of(shape, boxes), elements_of({{first, last}}));
        ASSERT_EQ(count_elements(boxes), last - first + 1);
        ASSERT_LE(boxes.size(), 5u);
      }
    }
  }
}

TEST(Box, BoxesOfAnIntervalThatBeginsOrEndsASliceAreAsFewAsPossible) {
  // As most of the oracle's sets do: the start or the end of the tensor, cut once. An interval that is cut at
  // both ends may get a box or two more than the fewest: [1, 4] of 1 x 3 x 2 is a row between two elements here, and
  // two boxes of two.
  int checked = 0;
  for (const Decomposition& shape : small_shapes()) {
    FewestBoxes fewest(shape);
    const int64_t slice = shape.dim_size * shape.inner_size;
    for (int64_t first = 0; first < shape.numel(); ++first) {
      for (int64_t last = first; last < shape.numel(); ++last) {
        const auto boxes = boxes_of(shape, {{first, last}});
        const uint64_t mask = (~0ULL >> (63 - last)) & (~0ULL << first);
        const int expected = fewest.of(mask, static_cast<int>(boxes.size()));
        ASSERT_LE(static_cast<int>(boxes.size()), expected + 2);
        if (first % slice != 0 && (last + 1) % slice != 0) continue;
        ++checked;
        ASSERT_EQ(static_cast<int>(boxes.size()), expected) << shape.outer_size << " x " << shape.dim_size << " x "
                                                            << shape.inner_size << " [" << first << ", " << last << "]";
      }
    }
  }
  EXPECT_GT(checked, 3000);
}

TEST(Box, SeveralIntervalsCoverTheirElementsExactlyOnce) {
  std::mt19937 random(4);
  for (int round = 0; round < 3000; ++round) {
    const Decomposition shape{1 + static_cast<int64_t>(random() % 5), 1 + static_cast<int64_t>(random() % 5),
                              1 + static_cast<int64_t>(random() % 7)};
    std::vector<Interval> intervals;
    for (auto i = random() % 6; i > 0; --i) {
      const auto first = static_cast<int64_t>(random() % static_cast<uint64_t>(shape.numel()));
      intervals.push_back({first, std::min(shape.numel() - 1, first + static_cast<int64_t>(random() % 9))});
    }
    intervals = normalized(std::move(intervals));
    const auto boxes = boxes_of(shape, intervals);
    ASSERT_EQ(elements_of(shape, boxes), elements_of(intervals));
    for (int64_t n = 0; n < shape.numel(); ++n) {
      const auto covered = elements_of(intervals);
      ASSERT_EQ(contains(boxes, position_of(shape, n)), std::binary_search(covered.begin(), covered.end(), n));
    }
  }
}

TEST(Box, AColumnsElementsBecomeOneBox) {
  // Equal parts of neighbouring rows: {dim 0..3, inner 2..4} of 4 x 10.
  std::vector<Interval> intervals;
  for (int64_t d = 0; d < 4; ++d) intervals.push_back({d * 10 + 2, d * 10 + 4});
  EXPECT_THAT(boxes_of({1, 4, 10}, intervals), ElementsAre(Box{{0, 0}, {0, 3}, {2, 4}}));
}

TEST(Box, TheSeedsSetsAreSingleBoxes) {
  const Decomposition shape{1, 2, 2147483649};
  EXPECT_THAT(boxes_of(shape, {{4294967296, 4294967297}}), ElementsAre(Box{{0, 0}, {1, 1}, {2147483647, 2147483648}}));
  EXPECT_THAT(boxes_of(shape, {{0, shape.numel() - 1}}), ElementsAre(Box{{0, 0}, {0, 1}, {0, 2147483648}}));
  EXPECT_EQ(count_elements(boxes_of(shape, {{0, shape.numel() - 1}})), shape.numel());
}

TEST(Box, NoIntervalsAreNoBoxes) {
  EXPECT_THAT(boxes_of({2, 3, 4}, {}), IsEmpty());
  EXPECT_THAT(boxes_of({2, 3, 4}, {{5, 4}}), IsEmpty());
  EXPECT_FALSE(contains({}, {0, 0, 0}));
  EXPECT_EQ(count_elements({}), 0);
}

TEST(Box, JoinedKeepsTheElementsAndSortsTheBoxes) {
  std::mt19937 random(8);
  const Decomposition shape{3, 4, 5};
  int fewer = 0;
  for (int round = 0; round < 2000; ++round) {
    // Single elements and short runs, none twice.
    std::vector<Box> boxes;
    for (int64_t n = 0; n < shape.numel(); ++n) {
      const Position at = position_of(shape, n);
      if (random() % 3 != 0) boxes.push_back({{at.outer, at.outer}, {at.dim, at.dim}, {at.inner, at.inner}});
    }
    const auto expected = elements_of(shape, boxes);
    std::shuffle(boxes.begin(), boxes.end(), random);
    const auto result = joined(boxes);
    ASSERT_EQ(elements_of(shape, result), expected);
    ASSERT_LE(result.size(), boxes.size());
    if (result.size() < boxes.size() / 2) ++fewer;
    for (size_t i = 1; i < result.size(); ++i) {
      ASSERT_LT(linear_index(shape, {result[i - 1].outer.first, result[i - 1].dim.first, result[i - 1].inner.first}),
                linear_index(shape, {result[i].outer.first, result[i].dim.first, result[i].inner.first}));
    }
  }
  EXPECT_GT(fewer, 1000);
}

TEST(Box, JoinedMakesOneBoxOfWhatIsOne) {
  const Box left{{0, 1}, {2, 3}, {0, 4}};
  const Box right{{0, 1}, {2, 3}, {5, 9}};
  EXPECT_THAT(joined({right, left}), ElementsAre(Box{{0, 1}, {2, 3}, {0, 9}}));
  const Box below{{0, 1}, {4, 4}, {0, 9}};
  EXPECT_THAT(joined({below, right, left}), ElementsAre(Box{{0, 1}, {2, 4}, {0, 9}}));
  const Box apart{{0, 1}, {2, 3}, {6, 9}};
  EXPECT_THAT(joined({apart, left}), ElementsAre(left, apart));
}

TEST(Box, IntersectionsAreThoseOfTheElements) {
  std::mt19937 random(9);
  const auto range = [&](int64_t size) {
    const auto a = static_cast<int64_t>(random() % static_cast<uint64_t>(size));
    const auto b = static_cast<int64_t>(random() % static_cast<uint64_t>(size));
    return random() % 3 == 0 ? Interval{0, size - 1} : Interval{std::min(a, b), std::max(a, b)};
  };
  for (int round = 0; round < 20000; ++round) {
    const Decomposition shape{1 + static_cast<int64_t>(random() % 4), 1 + static_cast<int64_t>(random() % 5),
                              1 + static_cast<int64_t>(random() % 6)};
    std::vector<Box> boxes;
    for (auto i = random() % 4; i > 0; --i) {
      boxes.push_back({range(shape.outer_size), range(shape.dim_size), range(shape.inner_size)});
    }
    const Interval window = range(shape.numel());
    std::set<int64_t> expected;
    for (const int64_t n : elements_of(shape, boxes)) {
      if (window.first <= n && n <= window.last) expected.insert(n);
    }
    const auto found = intersect(shape, boxes, window);
    ASSERT_EQ(elements_of(found), std::vector<int64_t>(expected.begin(), expected.end()));
    ASSERT_EQ(normalized(found), found);
    ASSERT_LE(static_cast<int64_t>(intersect(shape, boxes, {0, shape.numel() - 1}).size()),
              interval_count(shape, boxes));
  }
}

TEST(Box, IntersectionsOfHugeBoxesTakeNoTime) {
  const Decomposition shape{1 << 20, 1 << 20, 1 << 20};
  const std::vector<Box> all = {{{0, (1 << 20) - 1}, {0, (1 << 20) - 1}, {0, (1 << 20) - 1}}};
  EXPECT_THAT(intersect(shape, all, {5, int64_t{1} << 59}), ElementsAre(Interval{5, int64_t{1} << 59}));
  const std::vector<Box> one = {{{7, 7}, {3, 900}, {1, 5}}};
  const int64_t at = linear_index(shape, {7, 400, 0});
  EXPECT_THAT(intersect(shape, one, {at - 10, at + 10}), ElementsAre(Interval{at + 1, at + 5}));
  EXPECT_THAT(intersect(shape, one, {at + 6, at + 10}), IsEmpty());
  EXPECT_EQ(interval_count(shape, all), 1);
  EXPECT_EQ(interval_count(shape, one), 898);
}

}  // namespace
}  // namespace brink
