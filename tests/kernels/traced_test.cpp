#include "kernels/index/traced.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "kernels/index/index_type.h"
#include "kernels/softmax/last_dim_address.h"
#include "kernels/softmax/spatial_address.h"

// The expected values come from the language itself: `decltype(a * b)` for the type, the compiler's own `<`, and GCC's
// checked arithmetic, which yields the infinitely precise result reduced to that type.
#pragma GCC diagnostic ignored "-Wsign-compare"

namespace brink {
namespace {

template <class T>
std::vector<T> interesting() {
  constexpr T kLowest = std::numeric_limits<T>::min();
  constexpr T kLargest = std::numeric_limits<T>::max();
  std::vector<T> values;
  for (const int small : {0, 1, 2, 3, 7, -1, -2}) values.push_back(static_cast<T>(small));
  for (const T edge : {kLargest, static_cast<T>(kLargest - 1), static_cast<T>(kLargest / 2 + 1), kLowest,
                       static_cast<T>(kLowest + 1)}) {
    values.push_back(edge);
  }
  std::mt19937_64 random(19);
  for (int i = 0; i < 24; ++i) {
    const uint64_t bits = random();
    values.push_back(static_cast<T>(bits >> (random() % 64)));  // of every magnitude
    values.push_back(static_cast<T>(bits));
  }
  return values;
}

template <class F>
void for_all_pairs_of_types(const F& f) {
  for (const IndexType a : kIndexTypes) {
    for (const IndexType b : kIndexTypes) {
      with_index_type(a, [&](auto x) { with_index_type(b, [&](auto y) { f(x, y); }); });
    }
  }
}

TEST(Traced, ProductsAreThoseOfTheBuiltInTypesForAllPairs) {
  for_all_pairs_of_types([](auto type_a, auto type_b) {
    using A = decltype(type_a);
    using B = decltype(type_b);
    using C = decltype(A{} * B{});
    static_assert(std::is_same_v<decltype(mul(A{}, B{})), C>);
    static_assert(std::is_same_v<decltype(mul(Traced<A>(), Traced<B>())), Traced<C>>);
    static_assert(std::is_same_v<decltype(mul(Traced<A>(), B{})), Traced<C>>);
    static_assert(std::is_same_v<decltype(mul(A{}, Traced<B>())), Traced<C>>);
    for (const A a : interesting<A>()) {
      for (const B b : interesting<B>()) {
        C expected{};
        (void)__builtin_mul_overflow(static_cast<C>(a), static_cast<C>(b), &expected);
        const Traced<C> product = mul(Traced<A>(a), Traced<B>(b));
        ASSERT_EQ(mul(a, b), expected) << +a << " * " << +b;
        ASSERT_EQ(product.value, expected) << +a << " * " << +b;
        ASSERT_TRUE(product.exact == static_cast<Exact>(a) * static_cast<Exact>(b)) << +a << " * " << +b;
        ASSERT_EQ(mul(Traced<A>(a), b).value, expected);
        ASSERT_EQ(mul(a, Traced<B>(b)).value, expected);
      }
    }
  });
}

TEST(Traced, SumsAreThoseOfTheBuiltInTypesForAllPairs) {
  for_all_pairs_of_types([](auto type_a, auto type_b) {
    using A = decltype(type_a);
    using B = decltype(type_b);
    using C = decltype(A{} + B{});
    static_assert(std::is_same_v<decltype(add(A{}, B{})), C>);
    static_assert(std::is_same_v<decltype(add(Traced<A>(), Traced<B>())), Traced<C>>);
    for (const A a : interesting<A>()) {
      for (const B b : interesting<B>()) {
        C expected{};
        (void)__builtin_add_overflow(static_cast<C>(a), static_cast<C>(b), &expected);
        const Traced<C> sum = add(Traced<A>(a), Traced<B>(b));
        ASSERT_EQ(add(a, b), expected) << +a << " + " << +b;
        ASSERT_EQ(sum.value, expected) << +a << " + " << +b;
        ASSERT_TRUE(sum.exact == static_cast<Exact>(a) + static_cast<Exact>(b)) << +a << " + " << +b;
      }
    }
  });
}

TEST(Traced, ComparisonsAreThoseOfTheBuiltInTypesForAllPairs) {
  for_all_pairs_of_types([](auto type_a, auto type_b) {
    using A = decltype(type_a);
    using B = decltype(type_b);
    for (const A a : interesting<A>()) {
      for (const B b : interesting<B>()) {
        const bool expected = a < b;
        ASSERT_EQ(less(a, b), expected) << +a << " < " << +b;
        ASSERT_EQ(less(Traced<A>(a), Traced<B>(b)), expected) << +a << " < " << +b;
      }
    }
  });
}

TEST(Traced, NarrowTypesPromoteToInt) {
  const auto product = mul(Traced<uint8_t>(200), Traced<uint8_t>(200));
  static_assert(std::is_same_v<decltype(product), const Traced<int>>);
  EXPECT_EQ(product.value, 40000);
  EXPECT_FALSE(product.differs());
  // It is the conversion back that loses: 40000 = 156 * 256 + 64.
  const auto narrow = named<Traced<uint8_t>>(Expression::kOuterBase, product);
  EXPECT_EQ(narrow.value, 64);
  EXPECT_TRUE(narrow.exact == 40000);
  EXPECT_EQ(narrow.origin.expression, Expression::kOuterBase);
}

TEST(Traced, UnsignedWinsOverIntOfTheSameWidth) {
  const auto product = mul(Traced<uint32_t>(65536), Traced<int32_t>(65537));
  static_assert(std::is_same_v<decltype(product), const Traced<uint32_t>>);
  EXPECT_EQ(product.value, 65536u);
  EXPECT_TRUE(product.exact == (Exact{1} << 32) + 65536);
  EXPECT_FALSE(less(Traced<int32_t>(-1), Traced<uint32_t>(1)));
}

TEST(Traced, TheWiderTypeWins) {
  const auto product = mul(Traced<int32_t>(std::numeric_limits<int32_t>::max()), Traced<int64_t>(4));
  static_assert(std::is_same_v<decltype(product), const Traced<int64_t>>);
  EXPECT_EQ(product.value, 8589934588);
  EXPECT_FALSE(product.differs());
}

TEST(Traced, TheExactValueOfAnInt64ProductIsKept) {
  const int64_t a = std::numeric_limits<int64_t>::max();
  const auto product = mul(Traced<int64_t>(a), Traced<int64_t>(a));
  EXPECT_EQ(product.value, 1);
  EXPECT_TRUE(product.exact == static_cast<Exact>(a) * a);
  EXPECT_TRUE(product.differs());
}

TEST(Traced, TheFirstNamedExpressionIsKept) {
  using X = Traced<uint32_t>;
  const X stride = named<X>(Expression::kOuterStride, mul(X(65536), X(65536)));
  const X base = named<X>(Expression::kOuterBase, mul(X(3), stride));
  const X offset = named<X>(Expression::kElementOffset, add(X(5), base));
  EXPECT_EQ(offset.value, 5u);
  EXPECT_TRUE(offset.exact == 3 * (Exact{1} << 32) + 5);
  EXPECT_EQ(offset.origin.expression, Expression::kOuterStride);
  EXPECT_TRUE(offset.origin.exact == Exact{1} << 32);
  EXPECT_EQ(offset.origin.wrapped, 0);
}

TEST(Traced, OfTwoOperandsThatDifferTheLeftNamesTheOrigin) {
  using X = Traced<uint8_t>;
  const X a = named<X>(Expression::kOuterBase, 300);
  const X b = named<X>(Expression::kDimOffset, 400);
  EXPECT_EQ(add(a, b).origin.expression, Expression::kOuterBase);
  EXPECT_EQ(add(b, a).origin.expression, Expression::kDimOffset);
  EXPECT_EQ(add(X(1), b).origin.expression, Expression::kDimOffset);
}

TEST(Traced, ADifferenceMultipliedByZeroIsGone) {
  using X = Traced<uint32_t>;
  const X stride = named<X>(Expression::kOuterStride, mul(X(65536), X(65536)));
  ASSERT_TRUE(stride.differs());
  const X base = named<X>(Expression::kOuterBase, mul(X(0), stride));
  EXPECT_FALSE(base.differs());
  EXPECT_EQ(base.origin.expression, Expression::kNone);
  // What overflows later is a difference of its own.
  const X offset = named<X>(Expression::kElementOffset, add(add(base, X(4294967295u)), X(1)));
  EXPECT_EQ(offset.origin.expression, Expression::kElementOffset);
}

TEST(Traced, ADifferenceThatCancelsIsGone) {
  using X = Traced<int8_t>;
  const X next = named<X>(Expression::kTailNext, add(X(127), 1));
  ASSERT_TRUE(next.differs());
  const X back = named<X>(Expression::kElementOffset, add(next, -1));
  EXPECT_EQ(back.value, 127);
  EXPECT_FALSE(back.differs());
  EXPECT_EQ(back.origin.expression, Expression::kNone);
}

TEST(Traced, AnUnnamedStepTakesTheNextName) {
  using X = Traced<int32_t>;
  const auto unnamed = mul(X(65536), X(65536));
  ASSERT_TRUE(unnamed.differs());
  EXPECT_EQ(unnamed.origin.expression, Expression::kNone);
  EXPECT_EQ(named<X>(Expression::kRowBase, unnamed).origin.expression, Expression::kRowBase);
}

TEST(Traced, DivisionKeepsBothValues) {
  using X = Traced<uint8_t>;
  const X size = named<X>(Expression::kShiftedSize, 263);
  const auto vectors = divide_by<8>(size);
  EXPECT_EQ(vectors.value, 7 / 8);
  EXPECT_TRUE(vectors.exact == 263 / 8);
  EXPECT_EQ(vectors.origin.expression, Expression::kShiftedSize);
}

TEST(Traced, AddressesAreSignedPointerOffsets) {
  EXPECT_EQ(address(Traced<int8_t>(-128)), -128);
  EXPECT_EQ(address(Traced<uint32_t>(4294967295u)), 4294967295);
}

// The templates themselves, with the built-in type and traced: for each pair of sizes the values must be equal.
template <class I>
void compare_spatial_address() {
  for (const int64_t dim : {1, 2, 9, 255}) {
    for (const int64_t inner : {2, 7, 64, 200}) {
      const Decomposition shape{3, dim, inner};
      const SpatialAddress<I> plain(shape);
      const SpatialAddress<Traced<I>> traced(shape);
      ASSERT_EQ(traced.outer_stride.value, plain.outer_stride);
      for (int64_t n = 0; n < shape.numel(); ++n) {
        const Position at = position_of(shape, n);
        const auto offset = [&](auto index, const auto& a) {
          using X = decltype(index);
          const auto value = [](int64_t v) { return X(static_cast<I>(v)); };
          const X column = a.column_offset(a.outer_base(value(at.outer)), value(at.inner));
          return a.element_offset(column, value(at.dim));
        };
        const I expected = offset(I{}, plain);
        const Traced<I> found = offset(Traced<I>(), traced);
        ASSERT_EQ(found.value, expected) << dim << ' ' << inner << ' ' << n;
        ASSERT_TRUE(found.differs() == (static_cast<Exact>(found.value) != found.exact));
      }
    }
  }
}

TEST(Traced, SpatialAddressesAreThoseOfTheKernel) {
  compare_spatial_address<uint8_t>();
  compare_spatial_address<int8_t>();
  compare_spatial_address<int16_t>();
}

TEST(Traced, TheSeedsElementOffsetWrapsToZero) {
  // pytorch#188031: dim 1, inner 2147483647 of [1, 2, 2147483649] is element 2^32.
  using X = Traced<uint32_t>;
  const SpatialAddress<X> address({1, 2, 2147483649});
  const X offset = address.element_offset(address.column_offset(X(0), X(2147483647)), X(1));
  EXPECT_EQ(offset.value, 0u);
  EXPECT_TRUE(offset.exact == Exact{1} << 32);
  EXPECT_EQ(offset.origin.expression, Expression::kElementOffset);
  const X before = address.element_offset(address.column_offset(X(0), X(2147483646)), X(1));
  EXPECT_EQ(before.value, 4294967295u);
  EXPECT_FALSE(before.differs());
}

TEST(Traced, EveryExpressionHasItsOwnName) {
  std::vector<std::string_view> names;
  for (int i = 0; i <= kExpressionCount; ++i) names.push_back(name_of(static_cast<Expression>(i)));
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_FALSE(names[i].empty());
    for (size_t j = 0; j < i; ++j) EXPECT_NE(names[i], names[j]);
  }
  EXPECT_EQ(name_of(Expression::kElementOffset), "element_offset");
  EXPECT_EQ(name_of(Expression::kByteOffset), "byte_offset");
  EXPECT_EQ(name_of(Expression::kNone), "none");
}

TEST(IndexTypes, LimitsAndNamesAreThoseOfTheCppType) {
  for (const IndexType type : kIndexTypes) {
    with_index_type(type, [&](auto value) {
      using I = decltype(value);
      EXPECT_EQ(limits_of(type).bits, static_cast<int>(8 * sizeof(I)));
      EXPECT_EQ(limits_of(type).is_signed, std::is_signed_v<I>);
      EXPECT_EQ(limits_of(type).max, static_cast<int64_t>(std::numeric_limits<I>::max()));
    });
    EXPECT_EQ(parse_index_type(name_of(type)), type);
  }
  EXPECT_EQ(parse_index_type("u64"), std::nullopt);
  EXPECT_EQ(parse_index_type(""), std::nullopt);
}

}  // namespace
}  // namespace brink
