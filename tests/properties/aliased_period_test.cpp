#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/execution/alias_period.h"
#include "kernels/softmax/dtype.h"
#include "properties/closed_form.h"
#include "properties/filler_value.h"

namespace brink {
namespace {

using ::testing::ElementsAre;

// An index type of b bits wraps by 2^b elements, a signed one by 2^(b-1) too; 2^45 elements of 8 bytes are the largest
// power that a GPU's address space holds.
constexpr int kLargestShift = 45;

TEST(AliasedPeriod, NoPowerOfTwoOfElementsMeetsTheSamePhysicalByte) {
  for (const DType dtype : kDTypes) {
    for (int k = 0; k <= kLargestShift; ++k) {
      const int64_t distance = (int64_t{1} << k) * size_of(dtype);
      EXPECT_FALSE(same_filler_byte(distance, kPeriodBytes)) << name_of(dtype) << " 2^" << k;
    }
  }
}

TEST(AliasedPeriod, APowerOfTwoPeriodWouldHideWrapsBehindTheSameByte) {
  for (const DType dtype : kDTypes) {
    for (const int64_t pages : {1, 2, 4, 8, 16}) {
      for (const int k : {31, 32}) {
        EXPECT_TRUE(same_filler_byte((int64_t{1} << k) * size_of(dtype), pages * kPageBytes))
            << name_of(dtype) << " 2^" << k << ", " << pages << " pages";
      }
    }
  }
}

TEST(AliasedPeriod, CodesModuloSevenRepeatWithTheFiller) {
  for (const DType dtype : kDTypes) {
    EXPECT_EQ(period_elements(size_of(dtype)) % 7, 0) << name_of(dtype);
    EXPECT_EQ(period_elements(size_of(dtype)) * size_of(dtype), kPeriodBytes) << name_of(dtype);
  }
}

TEST(AliasedPeriod, PagesAndSlotsCoverTheTensorAndNoMore) {
  for (const DType dtype : kDTypes) {
    const int64_t bytes = size_of(dtype);
    const int64_t page = page_elements(bytes);
    const int64_t period = period_elements(bytes);
    EXPECT_EQ(page * kPeriodPages, period) << name_of(dtype);
    for (const int64_t numel :
         {int64_t{1}, page - 1, page, page + 1, period - 1, period, period + 1, (int64_t{1} << 32) + 3}) {
      EXPECT_GE(page_count(numel, bytes) * page, numel) << name_of(dtype) << ' ' << numel;
      EXPECT_LT((page_count(numel, bytes) - 1) * page, numel) << name_of(dtype) << ' ' << numel;
      EXPECT_GE(slot_count(numel, bytes) * period, numel) << name_of(dtype) << ' ' << numel;
      EXPECT_LT((slot_count(numel, bytes) - 1) * period, numel) << name_of(dtype) << ' ' << numel;
    }
  }
}

TEST(AliasedPeriod, WindowsAndTheLastPageHaveMemoryOfTheirOwn) {
  const int64_t page = page_elements(2);
  EXPECT_THAT(own_pages(10 * page, 2, {}), ElementsAre(9));
  EXPECT_THAT(own_pages(10 * page + 1, 2, {}), ElementsAre(10));
  EXPECT_THAT(own_pages(1, 2, {{0, 0}}), ElementsAre(0));
  EXPECT_THAT(own_pages(10 * page, 2, {{0, 5}, {page - 1, page}, {4 * page, 5 * page - 1}}), ElementsAre(0, 1, 4, 9));
  EXPECT_THAT(own_pages(10 * page, 2, {{3 * page - 2, 3 * page - 1}, {2 * page, 2 * page}}), ElementsAre(2, 9));
  EXPECT_THAT(own_pages(10 * page + 1, 2, {{9 * page, 11 * page}}), ElementsAre(9, 10));
}

TEST(AliasedPeriod, AWindowInsideOnePageDoesNotTakeItsSlot) {
  const int64_t page = page_elements(4);
  EXPECT_THAT(own_pages(100 * page, 4, {{15 * page + 1, 16 * page - 2}}), ElementsAre(15, 99));
}

TEST(AliasedPeriod, WindowsOutsideTheTensorAreIgnored) {
  const int64_t page = page_elements(8);
  EXPECT_THAT(own_pages(3 * page, 8, {{-5 * page, -1}, {3 * page, 9 * page}, {2, 1}}), ElementsAre(2));
  EXPECT_THAT(own_pages(3 * page, 8, {{-7, 0}}), ElementsAre(0, 2));
}

TEST(AliasedPeriod, SlotsOfPagesAreNamedOnce) {
  EXPECT_THAT(slots_of({0, 6, 7, 8, 20, 21}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(slots_of({}), ElementsAre());
}

TEST(AliasedPeriod, TheFillerHoldsTheFormsValuesOfElementsThatAreNotHot) {
  for (const Operation operation : kOperations) {
    for (const DType dtype : kDTypes) {
      for (const FormFamily family : {FormFamily::kSeed, FormFamily::kCoded, FormFamily::kCodedOutput}) {
        if (family == FormFamily::kCodedOutput && operation != Operation::kLogSoftmaxBackward) continue;
        for (const Decomposition& shape : {Decomposition{3, 2, 5}, Decomposition{2, 9, 1}, Decomposition{1, 3, 50}}) {
          const ClosedForm form{operation, dtype, family, 7, shape};
          if (form.uses_levels()) continue;
          for (int64_t n = 0; n < shape.numel(); ++n) {
            if (position_of(shape, n).dim == form.hot_dim()) continue;
            // Any slot's start is a multiple of the period.
            const int64_t at = n + 1000 * period_elements(size_of(dtype));
            for (int tensor = 0; tensor < input_count(operation); ++tensor) {
              EXPECT_EQ(filler_value(form, tensor, at), form.input(tensor, n))
                  << name_of(operation) << ' ' << name_of(dtype) << ' ' << name_of(family) << ' ' << n;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace brink
