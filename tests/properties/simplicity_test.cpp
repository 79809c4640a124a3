#include "properties/simplicity.h"

#include <gtest/gtest.h>

#include "properties/generator.h"

namespace brink {
namespace {

Case case_of(std::vector<int64_t> shape, int64_t axis, DType dtype = DType::kF16) {
  Case c;
  c.shape = std::move(shape);
  c.axis = axis;
  c.dtype = dtype;
  c.implementation = *parse_implementation("spatial/u32");
  return c;
}

bool is_simpler(const Case& a, const Case& b) { return simplicity(a) < simplicity(b); }

TEST(Simplicity, MemoryComesFirstAndCountsInPages) {
  EXPECT_EQ(memory_of(case_of({3, 43}, 0)), 258);
  EXPECT_EQ(memory_of(case_of({1 << 20}, 0)), 2 << 20);
  EXPECT_EQ(memory_of(case_of({(1 << 20) + 1}, 0)), 4 << 20);
  EXPECT_EQ(memory_of(case_of({641, 6700417}, 0)), memory_of(case_of({1, 2, 2147483649}, 1)));
  // Fewer bytes in more dimensions; f16 before f32 of fewer elements.
  EXPECT_TRUE(is_simpler(case_of({2, 2, 3}, 1), case_of({13}, 0)));
  EXPECT_TRUE(is_simpler(case_of({15}, 0), case_of({8}, 0, DType::kF32)));
}

TEST(Simplicity, ThenRankThenSizesThenDType) {
  EXPECT_TRUE(is_simpler(case_of({2, 2147483649}, 0), case_of({1, 2, 2147483649}, 1)));
  // A boundary written as itself.
  EXPECT_TRUE(is_simpler(case_of({2, 2147483649}, 0), case_of({641, 6700417}, 0)));
  EXPECT_TRUE(is_simpler(case_of({2, 2147483649}, 0), case_of({2147483649, 2}, 0)));
  EXPECT_TRUE(is_simpler(case_of({2147483649}, 0), case_of({2147508113}, 0)));
  EXPECT_TRUE(is_simpler(case_of({7, 9}, 0), case_of({7, 9}, 0, DType::kBF16)));
  EXPECT_TRUE(is_simpler(case_of({7, 9}, 1), case_of({7, 9}, -1)));
}

TEST(Simplicity, PowersOfTwoAndTheirNeighboursAreTheLeastOdd) {
  for (int bits = 0; bits < 62; ++bits) EXPECT_EQ(oddness(int64_t{1} << bits), 0);
  EXPECT_EQ(oddness(2147483649), 1);
  EXPECT_EQ(oddness(4294967295), 1);
  EXPECT_EQ(oddness(65538), 2);
  EXPECT_EQ(oddness(6), 2);
  EXPECT_EQ(oddness(2147508113), kOddest);
}

TEST(WithDecomposition, KeepsTheDecompositionInTheFewestDimensions) {
  for (const Decomposition shape : {Decomposition{1, 5, 1}, {4, 5, 1}, {1, 5, 6}, {4, 5, 6}, {4, 1, 6}}) {
    const Case c = with_decomposition(case_of({2, 3}, 1), shape);
    EXPECT_EQ(std::get<Decomposition>(decompose(c)), shape);
    const size_t rank = 1 + (shape.outer_size > 1 ? 1 : 0) + (shape.inner_size > 1 ? 1 : 0);
    EXPECT_EQ(c.shape.size(), rank);
  }
}

TEST(Simpler, CandidatesAreValidAndSimplerAndShrinkingEnds) {
  const auto cases = generate_cases(7, 200, GeneratorOptions());
  for (const Case& start : cases) {
    Case c = start;
    int steps = 0;
    while (true) {
      const auto candidates = simpler(c);
      for (const Case& candidate : candidates) {
        ASSERT_EQ(validate(candidate), "");
        ASSERT_LT(simplicity(candidate), simplicity(c)) << to_text(candidate) << to_text(c);
        ASSERT_EQ(candidate.implementation, c.implementation);
        ASSERT_EQ(candidate.operation, c.operation);
      }
      if (candidates.empty()) break;
      c = candidates.back();
      ASSERT_LT(++steps, 10000);
      // Steps by one are the last candidates: take the boldest once the case is large.
      if (std::get<Decomposition>(decompose(c)).numel() > 1000) c = candidates.front();
    }
    // An empty tensor stays empty, on whichever side of the axis the zero is.
    if (std::get<Decomposition>(decompose(start)).numel() == 0) continue;
    EXPECT_EQ(c.shape, std::vector<int64_t>{1}) << to_text(start);
  }
}

TEST(Simpler, MergesDimensionsWithoutLeavingThePath) {
  EXPECT_EQ(simpler(case_of({2, 3, 5, 7, 11}, 2)).front().shape, (std::vector<int64_t>{6, 5, 77}));
  EXPECT_EQ(simpler(case_of({2, 3, 5, 7, 11}, -1)).front().shape, (std::vector<int64_t>{210, 11}));
}

}  // namespace
}  // namespace brink
