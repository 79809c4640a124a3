#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "kernels/index/arithmetic.h"
#include "kernels/index/expression.h"

// The tracing integer: instantiating a kernel or an address template with Traced<I> in place of I computes, beside the
// value that I would hold, the value that was meant, and remembers which named expression first made the two differ.

namespace brink {

/// Exact value: wide enough for any product of two int64_t.
using Exact = __int128;

/// Where an exact and a wrapped value parted.
struct Overflow {
  Expression expression = Expression::kNone;
  Exact exact = 0;
  int64_t wrapped = 0;
};

/// `value` is what the type T holds; `exact` is what it would hold if it were unbounded. `origin` says which expression
/// parted them first; a difference that is multiplied by 0 is gone, and so is its origin.
template <class T>
struct Traced {
  static_assert(std::is_integral_v<T>);
  T value{};
  Exact exact = 0;
  Overflow origin;

  constexpr Traced() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): constants mix with traced values as they do with plain ones
  constexpr Traced(T v) : value(v), exact(static_cast<Exact>(v)) {}
  constexpr Traced(T v, Exact e, Overflow o) : value(v), exact(e), origin(o) {}

  constexpr bool differs() const { return static_cast<Exact>(value) != exact; }
};

namespace detail {
template <class T>
struct Untraced {
  using type = T;
  static constexpr bool kTraced = false;
};
template <class T>
struct Untraced<Traced<T>> {
  using type = T;
  static constexpr bool kTraced = true;
};
template <class T>
using UntracedType = typename Untraced<T>::type;
template <class... T>
constexpr bool kAnyTraced = (Untraced<T>::kTraced || ...);

template <class T>
constexpr Traced<T> lift(T v) {
  return Traced<T>(v);
}
template <class T>
constexpr Traced<T> lift(const Traced<T>& v) {
  return v;
}

template <class C, class A, class B>
constexpr Traced<C> combine(C value, Exact exact, const Traced<A>& a, const Traced<B>& b) {
  Traced<C> result(value, exact, {});
  if (!result.differs()) return result;
  if (a.differs()) {
    result.origin = a.origin;
  } else if (b.differs()) {
    result.origin = b.origin;
  }
  // Both operands exact: this operation parted the two, and named() fills in its name.
  if (result.origin.expression == Expression::kNone)
    result.origin = {Expression::kNone, exact, static_cast<int64_t>(value)};
  return result;
}
}  // namespace detail

template <class A, class B, std::enable_if_t<detail::kAnyTraced<A, B>, int> = 0>
constexpr auto mul(const A& a, const B& b) {
  const auto x = detail::lift(a);
  const auto y = detail::lift(b);
  const auto value = mul(x.value, y.value);
  return detail::combine(value, x.exact * y.exact, x, y);
}

template <class A, class B, std::enable_if_t<detail::kAnyTraced<A, B>, int> = 0>
constexpr auto add(const A& a, const B& b) {
  const auto x = detail::lift(a);
  const auto y = detail::lift(b);
  const auto value = add(x.value, y.value);
  return detail::combine(value, x.exact + y.exact, x, y);
}

template <class A, class B, std::enable_if_t<detail::kAnyTraced<A, B>, int> = 0>
constexpr bool less(const A& a, const B& b) {
  return less(detail::lift(a).value, detail::lift(b).value);
}

template <int N, class A>
constexpr auto divide_by(const Traced<A>& a) {
  const auto value = divide_by<N>(a.value);
  return detail::combine(value, a.exact / N, a, Traced<int>(N));
}

template <class A>
constexpr long long address(const Traced<A>& a) {
  return address(a.value);
}

/// Converts to Traced<T> and names the expression: a difference that arose here, or in the unnamed steps that led here,
/// gets this name.
template <class I, class V, std::enable_if_t<detail::kAnyTraced<I>, int> = 0>
constexpr I named(Expression name, const V& v) {
  const auto x = detail::lift(v);
  using T = detail::UntracedType<I>;
  I result(static_cast<T>(x.value), x.exact, x.origin);
  if (!result.differs()) {
    result.origin = {};
  } else if (result.origin.expression == Expression::kNone) {
    result.origin = {name, x.exact, static_cast<int64_t>(result.value)};
  }
  return result;
}

}  // namespace brink
