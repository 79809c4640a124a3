#include <fmt/format.h>

#include <random>

#include "kernels/execution/alias_period.h"
#include "kernels/index/traced.h"
#include "properties/box.h"
#include "properties/execution.h"
#include "properties/oracle.h"
#include "tests/mutants/checks.h"

namespace brink {

std::string shapes_are_split_at_their_axis() {
  const std::vector<int64_t> shape = {2, 3, 5, 7};
  const Decomposition expected[] = {{1, 2, 105}, {2, 3, 35}, {6, 5, 7}, {30, 7, 1}};
  for (int64_t axis = 0; axis < 4; ++axis) {
    for (const int64_t written : {axis, axis - 4}) {
      const auto found = decompose(shape, written);
      const auto* decomposition = std::get_if<Decomposition>(&found);
      if (decomposition == nullptr || *decomposition != expected[axis])
        return fmt::format("axis {} of [2,3,5,7]", written);
    }
  }
  for (const int64_t axis : {-5, 4}) {
    if (!std::holds_alternative<std::string>(decompose(shape, axis))) return fmt::format("axis {} is taken", axis);
  }
  if (!std::holds_alternative<std::string>(decompose({int64_t{1} << 32, int64_t{1} << 31}, 0)))
    return "2^63 elements fit";
  if (!std::holds_alternative<std::string>(decompose({0, int64_t{1} << 32, int64_t{1} << 31}, 0)))
    return "0 * 2^63 fits";
  const Decomposition d{2, 3, 5};
  for (int64_t n = 0; n < d.numel(); ++n) {
    const Position at = position_of(d, n);
    if (at.outer >= 2 || at.dim >= 3 || at.inner >= 5 || linear_index(d, at) != n)
      return fmt::format("position of {}", n);
  }
  return "";
}

std::string boxes_hold_the_elements_of_their_intervals() {
  const Decomposition shape{3, 4, 5};
  const auto numel = shape.numel();
  for (int64_t first = 0; first < numel; ++first) {
    for (int64_t last = first; last < numel; ++last) {
      // Two intervals; the second lies behind the first, with a gap that may be empty.
      const std::vector<Interval> intervals = normalized({{first, last}, {last + 1 + first % 3, last + 7}, {4, 3}});
      std::vector<Interval> inside;
      for (const Interval& i : intervals) inside.push_back({i.first, std::min(i.last, numel - 1)});
      const auto boxes = boxes_of(shape, inside);
      std::vector<Interval> again;
      int64_t count = 0;
      for (int64_t n = 0; n < numel; ++n) {
        const bool expected = (first <= n && n <= last) || (last + 1 + first % 3 <= n && n <= last + 7);
        if (contains(boxes, position_of(shape, n)) != expected) {
          return fmt::format("element {} of intervals [{}, {}] and one more", n, first, last);
        }
        count += expected ? 1 : 0;
        if (expected) again.push_back({n, n});
      }
      if (count_elements(boxes) != count) return fmt::format("count of [{}, {}]", first, last);
      if (normalized(again) != intersect(shape, boxes, {0, numel - 1}))
        return fmt::format("intervals of [{}, {}]", first, last);
      const Interval range{first / 2, (last + numel) / 2};
      std::erase_if(again, [&](const Interval& i) { return i.first < range.first || i.first > range.last; });
      if (normalized(again) != intersect(shape, boxes, range)) return fmt::format("a part of [{}, {}]", first, last);
    }
  }
  return "";
}

namespace {

template <class A, class B>
std::string traced_agree(std::mt19937_64& random) {
  const auto draw = [&](auto type) {
    using T = decltype(type);
    const uint64_t bits = random();
    if (bits % 4 == 0) return static_cast<T>(std::numeric_limits<T>::max() - static_cast<T>(bits >> 8 & 3));
    if (bits % 4 == 1) return static_cast<T>(bits >> 8 & 3);
    return static_cast<T>(bits >> 8);
  };
  for (int i = 0; i < 200; ++i) {
    const A a = draw(A{});
    const B b = draw(B{});
    const Traced<A> x(a);
    const auto same = [](auto plain, const auto& traced, Exact exact) {
      return std::is_same_v<Traced<decltype(plain)>, std::decay_t<decltype(traced)>> && traced.value == plain &&
             traced.exact == exact && traced.differs() == (static_cast<Exact>(plain) != exact);
    };
    const auto product = mul(x, b);
    const auto sum = add(x, Traced<B>(b));
    const Exact exact_product = static_cast<Exact>(a) * b;
    if (!same(mul(a, b), product, exact_product)) return fmt::format("{} * {}", a, b);
    if (!same(add(a, b), sum, static_cast<Exact>(a) + b)) return fmt::format("{} + {}", a, b);
    if (!same(divide_by<8>(a), divide_by<8>(x), static_cast<Exact>(a) / 8)) return fmt::format("{} / 8", a);
    if (less(a, b) != less(x, b)) return fmt::format("{} < {}", a, b);
    // Comparisons and addresses see what the type holds, not what was meant.
    if (less(mul(a, b), a) != less(product, x)) return fmt::format("{} * {} < {}", a, b, a);
    if (address(product) != address(mul(a, b))) return fmt::format("address of {} * {}", a, b);
    const auto named_product = named<Traced<A>>(Expression::kOuterBase, product);
    const A plain = named<A>(Expression::kOuterBase, mul(a, b));
    const Overflow& origin = named_product.origin;
    if (named_product.value != plain || named_product.exact != exact_product)
      return fmt::format("{} * {}, named", a, b);
    const bool parted = static_cast<Exact>(plain) != exact_product;
    if (parted != (origin.expression == Expression::kOuterBase)) return fmt::format("the name of {} * {}", a, b);
    if (parted) {
      // The first name stays.
      const auto next = named<Traced<A>>(Expression::kElementOffset, add(Traced<A>(0), named_product));
      if (next.origin.expression != Expression::kOuterBase || next.origin.exact != exact_product) {
        return fmt::format("the first name of {} * {}", a, b);
      }
    }
  }
  return "";
}

}  // namespace

std::string traced_integers_agree_with_plain_ones() {
  std::mt19937_64 random(1);
  std::string problem;
  for (const IndexType one : kIndexTypes) {
    for (const IndexType other : kIndexTypes) {
      with_index_type(one, [&](auto a) {
        with_index_type(other, [&](auto b) {
          if (problem.empty()) problem = traced_agree<decltype(a), decltype(b)>(random);
        });
      });
      if (!problem.empty()) return fmt::format("{} and {}: {}", name_of(one), name_of(other), problem);
    }
  }
  return "";
}

std::string aliased_periods_keep_wrapped_addresses_apart() {
  for (const DType dtype : kDTypes) {
    const int64_t bytes = size_of(dtype);
    for (int k = 0; k <= 45; ++k) {
      if (same_filler_byte((int64_t{1} << k) * bytes, kPeriodBytes))
        return fmt::format("2^{} elements of {}", k, name_of(dtype));
    }
    const int64_t page = page_elements(bytes);
    const int64_t period = period_elements(bytes);
    if (period % 7 != 0 || period * bytes != kPeriodBytes) return "codes modulo 7 do not repeat with the filler";
    for (const int64_t numel : {int64_t{1}, page - 1, page, page + 1, period - 1, period, period + 1, 9 * period + 1}) {
      const int64_t pages = page_count(numel, bytes);
      const int64_t slots = slot_count(numel, bytes);
      if (pages * page < numel || (pages - 1) * page >= numel) return fmt::format("pages of {} elements", numel);
      if (slots * period < numel || (slots - 1) * period >= numel) return fmt::format("slots of {} elements", numel);
    }
    // Each page of a window, and the last one.
    const int64_t numel = 20 * page + 5;
    for (const Interval window : {Interval{0, 0},
                                  {page - 1, page},
                                  {2 * page, 5 * page - 1},
                                  {6 * page - 1, 9 * page},
                                  {20 * page + 4, 21 * page},
                                  {-9, 3}}) {
      std::vector<int64_t> expected;
      for (int64_t p = 0; p <= 20; ++p) {
        if (p == 20 || (window.first < (p + 1) * page && window.last >= p * page)) expected.push_back(p);
      }
      if (own_pages(numel, bytes, {window}) != expected)
        return fmt::format("pages of [{}, {}]", window.first, window.last);
    }
  }
  if (slots_of({0, 6, 7, 8, 20, 21}) != std::vector<int64_t>{0, 1, 2, 3}) return "slots of pages";
  return "";
}

std::string known_overflows_are_named() {
  // Worked out by hand: the first element whose address leaves the index type, and the step that made it do so.
  struct Known {
    const char* implementation;
    std::vector<int64_t> shape;
    int64_t axis;
    Expression expression;
    int64_t exact;
    int64_t wrapped;
  };
  constexpr int64_t k32 = int64_t{1} << 32;
  const Known known[] = {
      // pytorch#188031: column 2^31 - 1 of the second row is element 2^32.
      {"spatial/u32", {1, 2, 2147483649}, 1, Expression::kElementOffset, k32, 0},
      {"spatial/i32", {1, 2, 1073741825}, 1, Expression::kElementOffset, k32 / 2, -k32 / 2},
      // The second row alone starts past the end.
      {"spatial/u32", {1, 4, 2147483648}, 1, Expression::kDimOffset, k32, 0},
      // So does the third slice of 2^31 elements.
      {"spatial/u32", {3, 2, 1073741824}, 1, Expression::kOuterBase, k32, 0},
      {"spatial/u32", {2, 3, 1431655765}, 1, Expression::kColumnOffset, k32, 0},
      {"last_dim/u32", {8388609, 512}, 1, Expression::kRowBase, k32, 0},
      // Row 4000 of 1,073,742 elements starts at 4,294,968,000, 704 past the end, so row 3999 holds element 2^32.
      {"last_dim/u32", {4001, 1073742}, 1, Expression::kElementOffset, k32, 0},
      // Sizes that the kernel itself narrows to 8 bits.
      {"last_dim/u8", {2, 300}, 1, Expression::kDimSize, 300, 44},
      {"spatial/u8", {300, 1, 2}, 1, Expression::kOuterSize, 300, 44},
      {"spatial/i8", {1, 2, 200}, 1, Expression::kInnerSize, 200, -56},
      // Columns in blocks of 16: the last begins at 240, and the loop's step is 4 * 16. A row's tail begins at 248: its
      // last
      // element, 253, and the next step of 16.
      {"spatial/u8", {1, 1, 255}, 1, Expression::kInnerNext, 304, 48},
      {"last_dim/u8", {1, 254}, 1, Expression::kTailNext, 269, 13},
  };
  for (const Known& k : known) {
    Case c;
    c.operation = Operation::kSoftmaxBackward;
    c.implementation = *parse_implementation(k.implementation);
    c.shape = k.shape;
    c.axis = k.axis;
    FixedOccupancy occupancy = host_occupancy(c.implementation);
    const Prediction p = predict(c, occupancy);
    const std::string found =
        p.first_overflow ? fmt::format("{} {} {}", name_of(p.first_overflow->overflow.expression),
                                       to_string(p.first_overflow->overflow.exact), p.first_overflow->overflow.wrapped)
                         : "none";
    const std::string expected = fmt::format("{} {} {}", name_of(k.expression), k.exact, k.wrapped);
    if (found != expected) return fmt::format("{}: {}, not {}", repeat_command(c, "host"), found, expected);
  }
  return "";
}

}  // namespace brink
