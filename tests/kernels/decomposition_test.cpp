#include "kernels/softmax/decomposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace brink {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

Decomposition sizes(const std::vector<int64_t>& shape, int64_t axis) {
  const auto result = decompose(shape, axis);
  if (const auto* error = std::get_if<std::string>(&result)) ADD_FAILURE() << *error;
  return std::holds_alternative<Decomposition>(result) ? std::get<Decomposition>(result) : Decomposition{-1, -1, -1};
}

std::string error_of(const std::vector<int64_t>& shape, int64_t axis) {
  const auto result = decompose(shape, axis);
  if (std::holds_alternative<Decomposition>(result)) return "no error";
  EXPECT_THAT(std::get<std::string>(result), Not(HasSubstr("\n")));
  return std::get<std::string>(result);
}

TEST(Decomposition, SplitsAShapeAtEachAxis) {
  EXPECT_EQ(sizes({2, 3, 5, 7}, 0), (Decomposition{1, 2, 105}));
  EXPECT_EQ(sizes({2, 3, 5, 7}, 1), (Decomposition{2, 3, 35}));
  EXPECT_EQ(sizes({2, 3, 5, 7}, 2), (Decomposition{6, 5, 7}));
  EXPECT_EQ(sizes({2, 3, 5, 7}, 3), (Decomposition{30, 7, 1}));
}

TEST(Decomposition, NegativeAxesCountFromTheEnd) {
  const std::vector<int64_t> shape = {2, 3, 5, 7};
  for (int64_t axis = 0; axis < 4; ++axis) EXPECT_EQ(sizes(shape, axis - 4), sizes(shape, axis)) << axis;
}

TEST(Decomposition, AScalarHasOneElementAndAxisZero) {
  EXPECT_EQ(sizes({}, 0), (Decomposition{1, 1, 1}));
  EXPECT_EQ(sizes({}, -1), (Decomposition{1, 1, 1}));
  EXPECT_THAT(error_of({}, 1), HasSubstr("axis 1"));
  EXPECT_THAT(error_of({}, -2), HasSubstr("axis -2"));
}

TEST(Decomposition, OnesBehindTheAxisLeaveTheInnerSizeOne) {
  // This is what kept the 64-bit test of pytorch#188031 on the last_dim path.
  EXPECT_EQ(sizes({1, 1, 9}, 2), (Decomposition{1, 9, 1}));
  EXPECT_EQ(sizes({4, 9, 1, 1}, 1), (Decomposition{4, 9, 1}));
  EXPECT_EQ(sizes({1, 2, 9}, 1), (Decomposition{1, 2, 9}));
}

TEST(Decomposition, AZeroSizeGivesAnEmptyTensorWhereverItIs) {
  EXPECT_EQ(sizes({0, 3, 5}, 1), (Decomposition{0, 3, 5}));
  EXPECT_EQ(sizes({2, 0, 5}, 1), (Decomposition{2, 0, 5}));
  EXPECT_EQ(sizes({2, 3, 0}, 1), (Decomposition{2, 3, 0}));
  for (int64_t axis = 0; axis < 3; ++axis) EXPECT_EQ(sizes({2, 0, 5}, axis).numel(), 0);
}

TEST(Decomposition, ShapesWithANegativeSizeAreRejected) {
  for (const int64_t size : {int64_t{-1}, int64_t{-2147483648}, kMin}) {
    const std::string error = error_of({2, size, 5}, 0);
    EXPECT_THAT(error, HasSubstr("negative size " + std::to_string(size)));
    EXPECT_THAT(error, HasSubstr("axis 1"));
  }
  EXPECT_THAT(error_of({0, -3}, 0), HasSubstr("negative size -3"));
  EXPECT_THAT(error_of({-3, -5}, 0), HasSubstr("negative size -3"));
}

TEST(Decomposition, ProductsAboveInt64AreRejected) {
  EXPECT_EQ(sizes({kMax}, 0).numel(), kMax);
  EXPECT_EQ(sizes({7, kMax / 7}, 1).numel(), kMax);  // 2^63 - 1 is divisible by 7
  EXPECT_THAT(error_of({2, int64_t{1} << 62}, 0), HasSubstr("overflows int64"));
  EXPECT_THAT(error_of({8, kMax / 7}, 1), HasSubstr("overflows int64"));
  EXPECT_THAT(error_of({int64_t{1} << 32, int64_t{1} << 32, int64_t{1} << 32}, 2), HasSubstr("overflows int64"));
  // The other sizes must fit even where the tensor is empty.
  EXPECT_THAT(error_of({0, int64_t{1} << 40, int64_t{1} << 40}, 0), HasSubstr("overflows int64"));
}

TEST(Decomposition, AxesOutOfRangeAreRejectedWithTheRange) {
  for (const int64_t axis : {int64_t{3}, int64_t{-4}, kMax, kMin}) {
    const std::string error = error_of({2, 3, 5}, axis);
    EXPECT_THAT(error, HasSubstr("axis " + std::to_string(axis) + " is out of range for shape [2,3,5]"));
    EXPECT_THAT(error, HasSubstr("-3 to 2"));
  }
}

TEST(Decomposition, PositionAndLinearIndexAreInverse) {
  for (const Decomposition& shape : {Decomposition{3, 4, 5}, {1, 7, 1}, {5, 1, 2}, {2, 1, 1}}) {
    int64_t n = 0;
    for (int64_t outer = 0; outer < shape.outer_size; ++outer) {
      for (int64_t dim = 0; dim < shape.dim_size; ++dim) {
        for (int64_t inner = 0; inner < shape.inner_size; ++inner, ++n) {
          EXPECT_EQ(position_of(shape, n), (Position{outer, dim, inner}));
          EXPECT_EQ(linear_index(shape, {outer, dim, inner}), n);
        }
      }
    }
    EXPECT_EQ(n, shape.numel());
  }
}

TEST(Decomposition, PositionsBeyondTwoToThe32AreExact) {
  const Decomposition shape{1, 2, 2147483649};
  EXPECT_EQ(position_of(shape, int64_t{1} << 32), (Position{0, 1, 2147483647}));
  EXPECT_EQ(linear_index(shape, {0, 1, 2147483648}), 4294967297);
}

}  // namespace
}  // namespace brink
