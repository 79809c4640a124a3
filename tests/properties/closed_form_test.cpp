#include "properties/closed_form.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "properties/column_value.h"

namespace brink {
namespace {

constexpr FormFamily kFamilies[] = {FormFamily::kSeed, FormFamily::kCoded, FormFamily::kCodedOutput};
constexpr int kPrimes[] = {3, 5, 7};

template <class F>
void for_all_forms(const Decomposition& shape, const F& f) {
  for (const Operation operation : kOperations) {
    for (const FormFamily family : kFamilies) {
      if (family == FormFamily::kCodedOutput && operation != Operation::kLogSoftmaxBackward) continue;
      for (const DType dtype : kDTypes) {
        for (const int prime : kPrimes) {
          f(ClosedForm{operation, dtype, family, prime, shape});
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

std::string describe(const ClosedForm& form) {
  return std::string(name_of(form.operation)) + ' ' + std::string(name_of(form.dtype)) + ' ' +
         std::string(name_of(form.family)) + " mod " + std::to_string(form.prime) + ", " +
         std::to_string(form.shape.outer_size) + " x " + std::to_string(form.shape.dim_size) + " x " +
         std::to_string(form.shape.inner_size);
}

std::vector<int64_t> chosen(int64_t size, int64_t all_up_to) {
  std::vector<int64_t> result;
  for (const int64_t i : {int64_t{0}, int64_t{1}, size / 2, size - 2, size - 1}) {
    if (size > all_up_to && i >= 0) result.push_back(i);
  }
  for (int64_t i = 0; size <= all_up_to && i < size; ++i) result.push_back(i);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

// What the kernels' own column code makes of the inputs must be the stated answer, bit for bit.
void expect_answers_are_exact(const ClosedForm& form) {
  const Decomposition& shape = form.shape;
  for (const int64_t outer : chosen(shape.outer_size, 3)) {
    for (const int64_t inner : chosen(shape.inner_size, 3)) {
      for (const int64_t d : chosen(shape.dim_size, 6)) {
        const int64_t n = linear_index(shape, {outer, d, inner});
        const uint64_t found = column_value(form, shape.dim_size, d, [&](int64_t at) {
          return linear_index(shape, {outer, at, inner});
        });
        ASSERT_EQ(found, expected_bits(form, n))
            << describe(form) << ", element " << n << ": " << value_of_bits(form.dtype, found) << " instead of "
            << value_of_bits(form.dtype, expected_bits(form, n));
      }
    }
  }
}

TEST(ClosedForm, TheKernelsColumnCodeGivesTheAnswerForRowsUpTo40) {
  for (int64_t dim = 1; dim <= 40; ++dim) {
    for (const int64_t inner : {1, 3, 64}) for_all_forms({2, dim, inner}, expect_answers_are_exact);
  }
}

TEST(ClosedForm, TheKernelsColumnCodeGivesTheAnswerForLongRows) {
  for (const int64_t dim : {63, 64, 127, 128, 129, 1023, 1024, 1025, 5000}) {
    for (const int64_t inner : {1, 3}) for_all_forms({2, dim, inner}, expect_answers_are_exact);
  }
}

TEST(ClosedForm, InputsAreExactInTheirElementType) {
  for (const int64_t dim : {1, 2, 3, 40, 129, 1025}) {
    for (const int64_t inner : {1, 3, 64}) {
      for_all_forms({2, dim, inner}, [](const ClosedForm& form) {
        for (int64_t n = 0; n < form.shape.numel(); ++n) {
          for (int tensor = 0; tensor < input_count(form.operation); ++tensor) {
            const double value = form.input(tensor, n);
            with_dtype(form.dtype, [&](auto element) {
              using Traits = ElementTraits<decltype(element)>;
              const auto stored = Traits::store(static_cast<typename Traits::Acc>(value));
              ASSERT_EQ(static_cast<double>(Traits::load(stored)), value) << describe(form) << ", element " << n;
            });
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      });
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(ClosedForm, NoPowerOfTwoKeepsTheCode) {
  const Decomposition shape{1, 2, int64_t{1} << 47};
  for (const int prime : kPrimes) {
    // The output tensor of softmax_backward carries the code of every element.
    const ClosedForm form{Operation::kSoftmaxBackward, DType::kF16, FormFamily::kCoded, prime, shape};
    for (int k = 0; k <= 45; ++k) {
      for (int64_t n = 0; n < prime; ++n) {
        ASSERT_NE(form.input(1, n), form.input(1, n + (int64_t{1} << k))) << "2^" << k << " mod " << prime;
      }
    }
  }
}

TEST(ClosedForm, NoPowerOfTwoKeepsAHotElementOrALogSoftmaxInput) {
  for (const int prime : kPrimes) {
    for (const DType dtype : kDTypes) {
      const Decomposition shape{1, 2, int64_t{1} << 47};
      const ClosedForm forward{Operation::kLogSoftmaxForward, dtype, FormFamily::kCoded, prime, shape};
      const ClosedForm backward{Operation::kLogSoftmaxBackward, dtype, FormFamily::kCoded, prime, shape};
      const int64_t hot = shape.inner_size;  // the first of the second row
      for (int k = 0; k <= 45; ++k) {
        const int64_t distance = int64_t{1} << k;
        ASSERT_NE(forward.input(0, hot), forward.input(0, hot + distance)) << k;
        ASSERT_NE(forward.input(0, 5), forward.input(0, 5 + distance)) << k;
        ASSERT_NE(backward.input(0, hot), backward.input(0, hot + distance)) << k;
      }
    }
  }
}

TEST(ClosedForm, PowersOfTwoWouldKeepACodeModuloAPowerOfTwo) {
  // Why the modulus is an odd prime: modulo 8, an address that is off by 2^32 carries the same code.
  const ClosedForm form{Operation::kSoftmaxBackward, DType::kF16, FormFamily::kCoded, 8, {1, 2, int64_t{1} << 33}};
  EXPECT_EQ(form.input(1, 5), form.input(1, 5 + (int64_t{1} << 32)));
}

// A column of 3 x 2 x 2^31, whose reads are all off by 2^32 elements, that is by two rows: the same places of the
// neighbouring column.
uint64_t value_of_a_displaced_column(const ClosedForm& form) {
  const Decomposition& shape = form.shape;
  return column_value(form, shape.dim_size, 0, [&](int64_t d) {
    return linear_index(shape, {0, d, 77}) + (int64_t{1} << 32);
  });
}

TEST(ClosedForm, TheSeedsFormCannotTellAColumnFromTheSamePlacesOfAnother) {
  const Decomposition shape{3, 2, int64_t{1} << 31};
  const int64_t own = linear_index(shape, {0, 0, 77});
  for (const Operation operation : kOperations) {
    const ClosedForm uniform{operation, DType::kF16, FormFamily::kSeed, 7, shape};
    EXPECT_EQ(value_of_a_displaced_column(uniform), expected_bits(uniform, own)) << name_of(operation);
  }
  const ClosedForm coded{Operation::kSoftmaxBackward, DType::kF16, FormFamily::kCoded, 7, shape};
  EXPECT_NE(value_of_a_displaced_column(coded), expected_bits(coded, own));
  const ClosedForm coded_log{Operation::kLogSoftmaxBackward, DType::kF16, FormFamily::kCoded, 7, shape};
  EXPECT_NE(value_of_a_displaced_column(coded_log), expected_bits(coded_log, own));
}

TEST(ClosedForm, OneWrongReadShowsInEveryElementOfItsColumn) {
  // Every element of the column but one is read from its own address; that one, each in turn, 2^32 further.
  const Decomposition shape{1, 4, (int64_t{1} << 31) + 1};
  const int64_t inner = 12345;
  for (const DType dtype : kDTypes) {
    for (const int prime : kPrimes) {
      const ClosedForm form{Operation::kSoftmaxBackward, dtype, FormFamily::kCoded, prime, shape};
      for (int64_t own = 0; own < 4; ++own) {
        const uint64_t found = column_value(form, 4, own, [&](int64_t d) {
          // The last row's element, the hot one, wraps.
          return linear_index(shape, {0, d, inner}) - (d == 3 ? int64_t{1} << 32 : 0);
        });
        EXPECT_FALSE(same_value(dtype, found, expected_bits(form, linear_index(shape, {0, own, inner}))))
            << describe(form) << ", d " << own;
      }
    }
  }
}

TEST(ClosedForm, TheSeedsFormIsThatOfTheReport) {
  // [0.25, 0.75] x [1, 0] -> +-0.1875.
  const ClosedForm form{Operation::kSoftmaxBackward, DType::kF16, FormFamily::kSeed, 7, {1, 2, 5}};
  EXPECT_EQ(form.input(0, 3), 1);
  EXPECT_EQ(form.input(0, 8), 0);
  EXPECT_EQ(form.input(1, 3), 0.25);
  EXPECT_EQ(form.input(1, 8), 0.75);
  EXPECT_EQ(form.expected(3), 0.1875);
  EXPECT_EQ(form.expected(8), -0.1875);
}

TEST(ClosedForm, ForwardInputsAreNegativeSoThatAMaximumThatStartsAtZeroShows) {
  for_all_forms({3, 5, 4}, [](const ClosedForm& form) {
    if (!is_forward(form.operation)) return;
    for (int64_t n = 0; n < form.shape.numel(); ++n) ASSERT_LT(form.input(0, n), 0) << describe(form);
  });
}

TEST(ClosedForm, ReadsOutsideTheTensorAreNaN) {
  for_all_forms({2, 2, 3}, [](const ClosedForm& form) {
    for (const int64_t outside : {int64_t{-1}, form.shape.numel()}) {
      const uint64_t bits = column_value(form, 2, 0, [&](int64_t d) { return d == 0 ? outside : 1; });
      // Where only the first element's own output is masked, NaN may not reach it; but it never makes a right answer.
      ASSERT_FALSE(same_value(form.dtype, bits, expected_bits(form, 0))) << describe(form);
    }
  });
}

TEST(ColumnValue, ZerosAreEqualAndNaNIsEqualToNothing) {
  EXPECT_TRUE(same_value(DType::kF16, 0x0000, 0x8000));
  EXPECT_TRUE(same_value(DType::kF32, 0x80000000, 0));
  EXPECT_FALSE(same_value(DType::kF16, 0x7e00, 0x7e00));
  EXPECT_FALSE(same_value(DType::kBF16, 0x3f80, 0x3f81));
  EXPECT_EQ(value_of_bits(DType::kBF16, 0x3f80), 1);
  EXPECT_EQ(value_of_bits(DType::kF64, 0x3fe0000000000000), 0.5);
}

TEST(FormFamily, NamesReadBack) {
  for (const FormFamily family : kFamilies) EXPECT_EQ(parse_form_family(name_of(family)), family);
  EXPECT_EQ(parse_form_family("uniform"), std::nullopt);
}

}  // namespace
}  // namespace brink
