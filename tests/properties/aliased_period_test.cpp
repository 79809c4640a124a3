#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/execution/alias_period.h"
#include "kernels/softmax/dtype.h"
#include "properties/closed_form.h"
#include "properties/cuda/filler_value.h"

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

TEST(AliasedPeriod, SlotsCoverTheTensorInWholePages) {
  for (const DType dtype : kDTypes) {
    const int64_t bytes = size_of(dtype);
    const int64_t period = period_elements(bytes);
    for (const int64_t numel : {int64_t{1}, period - 1, period, period + 1, (int64_t{1} << 32) + 3}) {
      int64_t mapped = 0;
      for (int64_t slot = 0; slot < slot_count(numel, bytes); ++slot) mapped += slot_bytes(slot, numel, bytes);
      EXPECT_GE(mapped, numel * bytes) << name_of(dtype) << ' ' << numel;
      EXPECT_LT(mapped, numel * bytes + kPageBytes) << name_of(dtype) << ' ' << numel;
      EXPECT_EQ(mapped % kPageBytes, 0) << name_of(dtype) << ' ' << numel;
    }
  }
}

TEST(AliasedPeriod, WindowsAndTheLastSlotHaveMemoryOfTheirOwn) {
  const int64_t period = period_elements(2);
  EXPECT_THAT(own_slots(10 * period, 2, {}), ElementsAre(9));
  EXPECT_THAT(own_slots(1, 2, {{0, 0}}), ElementsAre(0));
  EXPECT_THAT(own_slots(10 * period, 2, {{0, 5}, {period - 1, period}, {4 * period, 5 * period - 1}}),
              ElementsAre(0, 1, 4, 9));
  EXPECT_THAT(own_slots(10 * period + 1, 2, {{9 * period, 11 * period}}), ElementsAre(9, 10));
}

TEST(AliasedPeriod, WindowsOutsideTheTensorAreIgnored) {
  const int64_t period = period_elements(8);
  EXPECT_THAT(own_slots(3 * period, 8, {{-5 * period, -1}, {3 * period, 9 * period}, {2, 1}}), ElementsAre(2));
  EXPECT_THAT(own_slots(3 * period, 8, {{-7, 0}}), ElementsAre(0, 2));
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
