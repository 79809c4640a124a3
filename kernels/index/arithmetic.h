#pragma once

#include <type_traits>

#include "kernels/index/expression.h"
#include "kernels/index/platform.h"

// The arithmetic that address templates are written in. On a built-in integer these wrap as the machine instruction
// does: the result type is C++'s own (usual arithmetic conversions), but a signed overflow, which C++ leaves undefined
// and a compiler may therefore exploit, is computed in the unsigned counterpart. index/traced.h overloads them.

namespace brink {

namespace detail {
template <class A, class B>
using Common = decltype(A{} * B{});
template <class T>
constexpr bool kIsBuiltin = std::is_integral_v<T>;
}  // namespace detail

template <class A, class B, std::enable_if_t<detail::kIsBuiltin<A> && detail::kIsBuiltin<B>, int> = 0>
BRINK_HOST_DEVICE constexpr auto mul(A a, B b) {
  using C = detail::Common<A, B>;
  using U = std::make_unsigned_t<C>;
  return static_cast<C>(static_cast<U>(static_cast<C>(a)) * static_cast<U>(static_cast<C>(b)));
}

template <class A, class B, std::enable_if_t<detail::kIsBuiltin<A> && detail::kIsBuiltin<B>, int> = 0>
BRINK_HOST_DEVICE constexpr auto add(A a, B b) {
  using C = detail::Common<A, B>;
  using U = std::make_unsigned_t<C>;
  return static_cast<C>(static_cast<U>(static_cast<C>(a)) + static_cast<U>(static_cast<C>(b)));
}

/// Converts to the index type and gives the value its name.
template <class I, class V, std::enable_if_t<detail::kIsBuiltin<I> && detail::kIsBuiltin<V>, int> = 0>
BRINK_HOST_DEVICE constexpr I named(Expression /*name*/, V value) {
  return static_cast<I>(value);
}

/// a < b in C++'s own rules.
template <class A, class B, std::enable_if_t<detail::kIsBuiltin<A> && detail::kIsBuiltin<B>, int> = 0>
BRINK_HOST_DEVICE constexpr bool less(A a, B b) {
  using C = detail::Common<A, B>;
  return static_cast<C>(a) < static_cast<C>(b);
}

/// Division by a positive compile-time constant (vectors per row).
template <int N, class A, std::enable_if_t<detail::kIsBuiltin<A>, int> = 0>
BRINK_HOST_DEVICE constexpr auto divide_by(A a) {
  return a / N;
}

/// The value as a signed 64-bit pointer offset.
template <class A, std::enable_if_t<detail::kIsBuiltin<A>, int> = 0>
BRINK_HOST_DEVICE constexpr long long address(A a) {
  return static_cast<long long>(a);
}

}  // namespace brink
