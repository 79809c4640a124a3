#include "properties/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "properties/column_value.h"
#include "properties/execution.h"

namespace brink {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kTwo31 = int64_t{1} << 31;
constexpr int64_t kTwo32 = int64_t{1} << 32;

Case case_of(std::vector<int64_t> shape, int64_t axis, std::string_view implementation) {
  Case c;
  c.shape = std::move(shape);
  c.axis = axis;
  c.implementation = *parse_implementation(implementation);
  return c;
}

Prediction predicted(const Case& c, Engine engine = Engine::kAuto) {
  EXPECT_EQ(validate(c), "");
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  return predict(c, occupancy, engine);
}

Box box(int64_t outer, int64_t dim_first, int64_t dim_last, int64_t inner_first, int64_t inner_last) {
  return {{outer, outer}, {dim_first, dim_last}, {inner_first, inner_last}};
}

void expect_origin(const Prediction& p, Expression expression, Exact exact, int64_t wrapped,
                   const std::optional<Position>& where) {
  ASSERT_TRUE(p.first_overflow.has_value());
  EXPECT_EQ(name_of(p.first_overflow->overflow.expression), name_of(expression));
  EXPECT_EQ(to_string(p.first_overflow->overflow.exact), to_string(exact));
  EXPECT_EQ(p.first_overflow->overflow.wrapped, wrapped);
  EXPECT_EQ(p.first_overflow->where, where);
}

// pytorch#188031: 2 * 2147483649 = 2^32 + 2 elements in a uint32_t: elements 2^32 and 2^32 + 1 land on 0 and 1.
TEST(Oracle, TheSeedsCaseIsPredictedElementByElement) {
  for (const DType dtype : kDTypes) {
    Case c = case_of({1, 2, 2147483649}, 1, "spatial/u32");
    c.dtype = dtype;
    const Prediction p = predicted(c);
    EXPECT_EQ(p.verdict, Verdict::kMismatch);
    EXPECT_EQ(p.path, Path::kSpatial);
    EXPECT_EQ(p.variant, Variant::kColumns);
    EXPECT_EQ(p.index_type, IndexType::kU32);
    EXPECT_TRUE(p.exact);
    EXPECT_THAT(p.contended, ElementsAre(box(0, 0, 0, 0, 1)));
    EXPECT_THAT(p.wrong, ElementsAre(box(0, 0, 0, 2147483647, 2147483648)));
    EXPECT_THAT(p.never_written, ElementsAre(box(0, 1, 1, 2147483647, 2147483648)));
    EXPECT_THAT(p.out_of_bounds, IsEmpty());
    expect_origin(p, Expression::kElementOffset, kTwo32, 0, Position{0, 1, 2147483647});
  }
}

TEST(Oracle, DispatchedTakesI64AtTheSeedsShape) {
  for (const Operation operation : kOperations) {
    Case c = case_of({1, 2, 2147483649}, 1, "dispatched");
    c.operation = operation;
    const Prediction p = predicted(c);
    EXPECT_EQ(p.verdict, Verdict::kOk);
    EXPECT_EQ(p.index_type, IndexType::kI64);
    EXPECT_FALSE(p.first_overflow.has_value());
    EXPECT_TRUE(p.exact);
  }
}

TEST(Oracle, TheOldTestsShapeSelectsTheOtherPath) {
  // What the 20 GB test used: [1, 1, numel] over the last axis never reaches the spatial kernel.
  const Case old_test = case_of({1, 1, 4294967298}, 2, "spatial/u32");
  const Prediction p = predicted(old_test);
  EXPECT_EQ(p.verdict, Verdict::kNotExecuted);
  EXPECT_EQ(p.path, Path::kLastDim);
  EXPECT_THAT(p.reason, HasSubstr("last_dim"));
  EXPECT_FALSE(p.launch.has_value());
  EXPECT_EQ(predicted(case_of({1, 1, 4294967298}, 2, "dispatched")).path, Path::kLastDim);
}

TEST(Oracle, OneElementPastTwoToThe32IsOneElement) {
  // 641 * 6700417 = 2^32 + 1 (Fermat's fifth number): exactly one address wraps, to 0.
  const Prediction p = predicted(case_of({641, 6700417}, 0, "spatial/u32"));
  EXPECT_TRUE(p.exact);
  EXPECT_EQ(count_elements(p.never_written), 1);
  EXPECT_THAT(p.never_written, ElementsAre(box(0, 640, 640, 6700416, 6700416)));
  EXPECT_THAT(p.contended, ElementsAre(box(0, 0, 0, 0, 0)));
  EXPECT_THAT(p.wrong, ElementsAre(box(0, 0, 639, 6700416, 6700416)));
  expect_origin(p, Expression::kElementOffset, kTwo32, 0, Position{0, 640, 6700416});
}

TEST(Oracle, TwoToThe32ElementsAreStillRight) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{1, 2, kTwo31}, {2, 2, kTwo31 / 2}, {4, 1, kTwo31 / 2}}) {
    const Prediction p = predicted(case_of(shape, 1, "spatial/u32"));
    EXPECT_EQ(p.verdict, Verdict::kOk);
    EXPECT_TRUE(p.exact);
    EXPECT_FALSE(p.first_overflow.has_value() && !p.never_written.empty());
  }
}

TEST(Oracle, SignedOffsetsLeaveTheTensor) {
  // 2 * (2^30 + 1) elements in an int32_t: elements 2^31 and 2^31 + 1 become -2^31 and -2^31 + 1.
  Case c = case_of({1, 2, kTwo31 / 2 + 1}, 1, "spatial/i32");
  Prediction p = predicted(c);
  EXPECT_EQ(p.verdict, Verdict::kOutOfBounds);
  EXPECT_THAT(p.out_of_bounds, ElementsAre(Interval{-kTwo31, -kTwo31 + 1}));
  EXPECT_THAT(p.never_written, ElementsAre(box(0, 1, 1, kTwo31 / 2 - 1, kTwo31 / 2)));
  EXPECT_THAT(p.contended, IsEmpty());
  expect_origin(p, Expression::kElementOffset, kTwo31, -kTwo31, Position{0, 1, kTwo31 / 2 - 1});
  // Memory that is really there faults.
  c.memory = MemoryKind::kDense;
  p = predicted(c);
  EXPECT_EQ(p.verdict, Verdict::kFault);
  EXPECT_THAT(p.never_written, IsEmpty());
}

TEST(Oracle, SignedOffsetsThatGoAllTheWayAroundTouchEveryNegativeAddress) {
  // 4 * (2^30 + 1) = 2^32 + 4 elements: 2^31 of them negative, the last four on 0 to 3 once more.
  const Prediction p = predicted(case_of({1, 4, kTwo31 / 2 + 1}, 1, "spatial/i32"));
  EXPECT_THAT(p.out_of_bounds, ElementsAre(Interval{-kTwo31, -1}));
  EXPECT_THAT(p.contended, ElementsAre(box(0, 0, 0, 0, 3)));
}

TEST(Oracle, TheStrideIsBlamedWhereItOverflowsFirst) {
  // dim * inner = 2^32 becomes 0 before any element's offset is computed.
  const Prediction stride = predicted(case_of({2, 2, kTwo31}, 1, "spatial/u32"));
  EXPECT_EQ(stride.verdict, Verdict::kMismatch);
  expect_origin(stride, Expression::kOuterStride, kTwo32, 0, Position{1, 0, 0});
  // dim * inner = 2^31 fits; twice that does not.
  const Prediction base = predicted(case_of({3, 2, kTwo31 / 2}, 1, "spatial/u32"));
  expect_origin(base, Expression::kOuterBase, kTwo32, 0, Position{2, 0, 0});
  // The second slice begins below 2^32 and ends above it.
  const Prediction element = predicted(case_of({2, 3, kTwo31 / 2}, 1, "spatial/u32"));
  expect_origin(element, Expression::kElementOffset, kTwo32, 0, Position{1, 1, 0});
}

TEST(Oracle, RowsHaveABaseOfTheirOwn) {
  const Prediction p = predicted(case_of({3, kTwo31}, 1, "last_dim/u32"));
  EXPECT_EQ(p.path, Path::kLastDim);
  expect_origin(p, Expression::kRowBase, kTwo32, 0, Position{2, 0, 0});
}

TEST(Oracle, SizesThatAreNarrowedAreBlamedAsSuch) {
  // 2^32 + 1 columns are one column to a uint32_t.
  const Prediction p = predicted(case_of({1, 2, kTwo32 + 1}, 1, "spatial/u32"));
  ASSERT_TRUE(p.first_overflow.has_value());
  EXPECT_EQ(p.first_overflow->overflow.expression, Expression::kInnerSize);
  EXPECT_FALSE(p.first_overflow->where.has_value());
  EXPECT_EQ(p.verdict, Verdict::kMismatch);
  // 2^32 columns are none: nothing runs, nothing is written.
  const Prediction none = predicted(case_of({1, 2, kTwo32}, 1, "spatial/u32"));
  EXPECT_EQ(none.verdict, Verdict::kUnwritten);
  EXPECT_EQ(count_elements(none.never_written), 2 * kTwo32);
}

TEST(Oracle, ACounterThatNeverMeetsItsBoundIsAHang) {
  const Prediction p = predicted(case_of({1, 2, 4294967000}, 1, "spatial/u32"));
  EXPECT_EQ(p.verdict, Verdict::kHang);
  ASSERT_TRUE(p.first_overflow.has_value());
  EXPECT_EQ(p.first_overflow->overflow.expression, Expression::kInnerNext);
  EXPECT_THAT(p.wrong, IsEmpty());
}

TEST(Oracle, NumelRuleIsWrongWhereItsLoopStepIsNot32Bit) {
  // numel = 2^31 - 2 fits; a step of 65535 * 1024 columns past the end does not.
  const Prediction numel = predicted(case_of({1, 1, kTwo31 - 2}, 1, "numel_rule"));
  EXPECT_EQ(numel.index_type, IndexType::kI32);
  ASSERT_TRUE(numel.first_overflow.has_value());
  EXPECT_EQ(numel.first_overflow->overflow.expression, Expression::kInnerNext);
  const Prediction safe = predicted(case_of({1, 1, kTwo31 - 2}, 1, "dispatched"));
  EXPECT_EQ(safe.verdict, Verdict::kOk);
  EXPECT_EQ(safe.index_type, IndexType::kI64);
  EXPECT_FALSE(safe.first_overflow.has_value());
}

TEST(Oracle, EmptyTensorsAreOkAndLaunchNothing) {
  for (const char* implementation : {"spatial/u32", "dispatched", "last_dim/i8"}) {
    const Prediction p = predicted(case_of({0, 2, 9}, 1, implementation));
    EXPECT_EQ(p.verdict, Verdict::kOk);
    EXPECT_FALSE(p.launch.has_value());
    EXPECT_THAT(p.reason, HasSubstr("empty"));
  }
}

TEST(Oracle, ADeviceThatHoldsNoBlockRejectsTheLaunch) {
  FixedOccupancy none(0);
  const Prediction p = predict(case_of({1, 2, 9}, 1, "spatial/u32"), none);
  EXPECT_EQ(p.verdict, Verdict::kLaunchRejected);
  EXPECT_THAT(p.reason, HasSubstr("no block size"));
  EXPECT_THAT(p.wrong, IsEmpty());
}

TEST(Oracle, ContendedElementsHoldTheValueOfOneOfTheirWriters) {
  const Case c = case_of({1, 2, 2147483649}, 1, "spatial/u32");
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  const auto shape = std::get<Decomposition>(decompose(c));
  const auto decision = dispatch(c.implementation, shape, c.operation, c.dtype, occupancy);
  const Launching launching{
      shape, c.operation, c.dtype, closed_form_of(c, shape), c.memory, std::get<Dispatch>(decision)};
  const auto values = WriterValues(launching, 8, 8).of(0);
  ASSERT_EQ(values.size(), 2u);  // column 0's own, and that of column 2147483647
  EXPECT_EQ(values[0], expected_bits(launching.form, 0));
  EXPECT_NE(values[1], values[0]);
  EXPECT_THAT(WriterValues(launching, 8, 8).of(2), testing::SizeIs(1));
}

// The two engines share nothing but the address templates; where the symbolic one says that it is exact, the traced one
// must say the same. All shapes are in narrow_exhaustive_slowtest.cpp; here are some at the boundary.
TEST(Oracle, SymbolicAndTracedAgreeAroundTheNarrowBoundary) {
  int compared = 0;
  for (const char* implementation : {"spatial/u8", "spatial/i8", "last_dim/u8", "last_dim/i8"}) {
    const bool row = std::string_view(implementation).starts_with("last_dim");
    for (int64_t outer = 1; outer <= 3; ++outer) {
      for (int64_t dim = 1; dim <= 5; ++dim) {
        for (int64_t inner = row ? 1 : 2; inner <= (row ? 1 : 140); ++inner) {
          const Case c = case_of({outer, row ? dim * 40 : dim, inner}, 1, implementation);
          const Prediction symbolic = predicted(c, Engine::kSymbolic);
          if (!symbolic.exact) continue;
          const Prediction traced = predicted(c, Engine::kTraced);
          ++compared;
          ASSERT_EQ(symbolic.verdict, traced.verdict) << to_text(c);
          ASSERT_EQ(symbolic.wrong, traced.wrong) << to_text(c);
          ASSERT_EQ(symbolic.never_written, traced.never_written) << to_text(c);
          ASSERT_EQ(symbolic.contended, traced.contended) << to_text(c);
          ASSERT_EQ(symbolic.out_of_bounds, traced.out_of_bounds) << to_text(c);
        }
      }
    }
  }
  EXPECT_GT(compared, 2000);
}

TEST(Oracle, HugeTensorsAreAnsweredConsistently) {
  const int64_t m = int64_t{1} << 20;
  const std::vector<std::vector<int64_t>> shapes = {
      {m, m, m},     {1, 1, m * m * m},     {m * m * m, 1, 1},       {1, m * m * m, 1},
      {m * m, 1, m}, {3, m * m * m / 5, 2}, {7, 11, m * m * m / 100}};
  for (const char* implementation : {"dispatched", "numel_rule", "spatial/u32", "spatial/i32", "spatial/i64",
                                     "last_dim/u32", "last_dim/i32", "last_dim/i64"}) {
    for (const auto& shape : shapes) {
      for (const Operation operation : {Operation::kSoftmaxBackward, Operation::kLogSoftmaxForward}) {
        Case c = case_of(shape, 1, implementation);
        c.operation = operation;
        const Prediction p = predicted(c);
        const auto sizes = std::get<Decomposition>(decompose(c));
        for (const auto* boxes : {&p.wrong, &p.never_written, &p.contended}) {
          ASSERT_LE(count_elements(*boxes), sizes.numel());
          for (const Box& b : *boxes) {
            ASSERT_TRUE(0 <= b.outer.first && b.outer.last < sizes.outer_size && 0 <= b.dim.first &&
                        b.dim.last < sizes.dim_size && 0 <= b.inner.first && b.inner.last < sizes.inner_size);
          }
        }
        const bool wide = p.index_type == IndexType::kI64;
        if (p.verdict == Verdict::kNotExecuted) {
          ASSERT_NE(p.path, c.implementation.path);
        } else if (wide) {
          ASSERT_EQ(p.verdict, Verdict::kOk) << to_text(c);
          ASSERT_FALSE(p.first_overflow.has_value()) << to_text(c);
        } else {
          ASSERT_NE(p.verdict, Verdict::kOk) << to_text(c);  // 2^58 elements and more
          ASSERT_TRUE(p.first_overflow.has_value()) << to_text(c);
        }
      }
    }
  }
}

Case named_case(Operation operation, std::vector<int64_t> shape, int64_t axis, DType dtype,
                const char* implementation) {
  Case c;
  c.operation = operation;
  c.shape = std::move(shape);
  c.axis = axis;
  c.dtype = dtype;
  c.implementation = *parse_implementation(implementation);
  return c;
}

// A dimension that narrows to 0 leaves nothing to load or store, even where other loops go around.
TEST(Oracle, NothingIsWrittenWhereTheReducedDimensionNarrowsToNothing) {
  const Case c = named_case(Operation::kSoftmaxBackward, {1000, 256}, 1, DType::kF64, "last_dim/u8");
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  const Prediction prediction = predict(c, occupancy);
  EXPECT_EQ(prediction.verdict, Verdict::kUnwritten);
  EXPECT_TRUE(prediction.exact);
  EXPECT_EQ(count_elements(prediction.never_written), 256000);
}

// In dense memory a counter that wraps below zero leaves the tensor before its loop has gone around.
TEST(Oracle, ASignedHangInDenseMemoryIsAFault) {
  Case c = named_case(Operation::kSoftmaxForward, {127, 2}, 0, DType::kF64, "spatial/i8");
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  EXPECT_EQ(predict(c, occupancy).verdict, Verdict::kHang);
  c.memory = MemoryKind::kDense;
  EXPECT_EQ(predict(c, occupancy).verdict, Verdict::kFault);
}

}  // namespace
}  // namespace brink
