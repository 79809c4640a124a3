#include "kernels/softmax/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace brink {
namespace {

// The value of a 16-bit float from its fields alone: no library's conversion.
double value_of_fields(uint16_t bits, int mantissa_bits, int bias) {
  const int exponent = (bits & 0x7fff) >> mantissa_bits;
  const int fraction = bits & ((1 << mantissa_bits) - 1);
  const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias - mantissa_bits)
                                         : std::ldexp((1 << mantissa_bits) + fraction, exponent - bias - mantissa_bits);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

struct Format {
  int mantissa_bits;
  int bias;
  uint16_t infinity;
};
constexpr Format kHalf{10, 15, 0x7c00};
constexpr Format kBrain{7, 127, 0x7f80};

template <class T>
void loads_are_the_fields_values(const Format& format) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<uint16_t>(bits);
    const float value = ElementTraits<T>::load(T{pattern});
    if ((pattern & 0x7fff) > format.infinity) {
      ASSERT_TRUE(std::isnan(value)) << std::hex << bits;
      continue;
    }
    const double expected = (pattern & 0x7fff) == format.infinity
                                ? std::copysign(HUGE_VAL, pattern == format.infinity ? 1 : -1)
                                : value_of_fields(pattern, format.mantissa_bits, format.bias);
    ASSERT_EQ(value, expected) << std::hex << bits;
    ASSERT_EQ(std::signbit(value), (pattern & 0x8000) != 0);
  }
}

TEST(DType, LoadsAreWhatTheFieldsOfTheFormatSay) {
  loads_are_the_fields_values<F16>(kHalf);
  loads_are_the_fields_values<BF16>(kBrain);
}

template <class T>
void every_value_survives(const Format& format) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<uint16_t>(bits);
    const T stored = ElementTraits<T>::store(ElementTraits<T>::load(T{pattern}));
    if ((pattern & 0x7fff) > format.infinity) {
      ASSERT_GT(stored.bits & 0x7fff, format.infinity) << std::hex << bits;
    } else {
      ASSERT_EQ(stored.bits, pattern);
    }
  }
}

TEST(DType, EveryValueSurvivesLoadingAndStoring) {
  every_value_survives<F16>(kHalf);
  every_value_survives<BF16>(kBrain);
}

// Between each two neighbours: the middle goes to the even one, everything else to the nearer.
template <class T>
void rounds_to_nearest_even(const Format& format) {
  for (int bits = 0; bits < format.infinity; ++bits) {
    const auto low = static_cast<uint16_t>(bits);
    const auto high = static_cast<uint16_t>(bits + 1);
    // Behind the largest value comes what would be the next one, were infinity a number.
    const double a = value_of_fields(low, format.mantissa_bits, format.bias);
    const double b = value_of_fields(high, format.mantissa_bits, format.bias);
    const auto middle = static_cast<float>((a + b) / 2);
    ASSERT_EQ(middle, (a + b) / 2);
    const uint16_t even = low % 2 == 0 ? low : high;
    const float inf = std::numeric_limits<float>::infinity();
    for (const float sign : {1.0F, -1.0F}) {
      const uint16_t sign_bit = sign < 0 ? 0x8000 : 0;
      ASSERT_EQ(ElementTraits<T>::store(sign * middle).bits, even | sign_bit) << std::hex << bits;
      ASSERT_EQ(ElementTraits<T>::store(sign * std::nextafter(middle, 0.0F)).bits, low | sign_bit) << std::hex << bits;
      ASSERT_EQ(ElementTraits<T>::store(sign * std::nextafter(middle, inf)).bits, high | sign_bit) << std::hex << bits;
    }
  }
}

TEST(DType, StoresRoundToNearestEven) {
  rounds_to_nearest_even<F16>(kHalf);
  rounds_to_nearest_even<BF16>(kBrain);
}

TEST(DType, StoresAgreeWithEigensTypesOnRandomFloats) {
  std::mt19937 random(7);
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    if (std::isnan(value)) continue;
    ASSERT_EQ(ElementTraits<F16>::store(value).bits, Eigen::half(value).x) << value;
    ASSERT_EQ(ElementTraits<BF16>::store(value).bits, Eigen::bfloat16(value).value) << value;
  }
}

TEST(DType, LargeAndTinyValuesGoWhereTheFormatSends) {
  EXPECT_EQ(ElementTraits<F16>::store(65504).bits, 0x7bff);
  EXPECT_EQ(ElementTraits<F16>::store(65519.996F).bits, 0x7bff);
  EXPECT_EQ(ElementTraits<F16>::store(65520).bits, 0x7c00);
  EXPECT_EQ(ElementTraits<F16>::store(0x1p-25F).bits, 0);  // half of the smallest value: to even
  EXPECT_EQ(ElementTraits<F16>::store(0x1.8p-25F).bits, 1);
  EXPECT_EQ(ElementTraits<BF16>::store(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(ElementTraits<BF16>::store(1.00390625F).bits, 0x3f80);  // 1 + 2^-8: to even
}

TEST(DType, WiderTypesAreStoredAsTheyAre) {
  EXPECT_EQ(ElementTraits<float>::store(0.1F), 0.1F);
  EXPECT_EQ(ElementTraits<double>::load(ElementTraits<double>::store(0.1)), 0.1);
}

TEST(DType, SizesVectorsAndNamesFitTogether) {
  for (const DType dtype : kDTypes) {
    with_dtype(dtype, [&](auto element) {
      using Traits = ElementTraits<decltype(element)>;
      EXPECT_EQ(size_of(dtype), static_cast<int64_t>(sizeof(element)));
      EXPECT_EQ(sizeof(typename Traits::Bits), sizeof(element));
      EXPECT_EQ(Traits::kVector * sizeof(element), 16u);
      EXPECT_EQ(vector_size(dtype), Traits::kVector);
      EXPECT_EQ(Traits::kDType, dtype);
    });
    EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
  }
  EXPECT_EQ(parse_dtype("f8"), std::nullopt);
}

}  // namespace
}  // namespace brink
