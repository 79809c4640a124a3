#pragma once

// The switch between original and mutated code. Comes before the first line of every file of the mutants' build.

#include <cstdint>
#include <type_traits>

namespace brink {

/// Which mutant is switched on; 0: none.
inline uint32_t active_mutant = 0;

/// Constant expressions are never mutated.
constexpr bool mutant_is_active(uint32_t id) { return !std::is_constant_evaluated() && active_mutant == id; }

/// For mutants that compute in 32 bits what should be computed in 64.
template <class T>
constexpr T through_int32(const T& value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<int32_t>(value));
  } else {
    return value;
  }
}

}  // namespace brink
