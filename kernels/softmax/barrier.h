#pragma once

#include <string_view>

namespace brink {

/// The barriers of the kernels: all threads of a block must reach the same one.
enum class Barrier {
  kUnnamed,
  kValuesStored,  ///< each thread's value is in shared memory
  kHalved,        ///< one half of the values is joined with the other
  kResultRead,    ///< each thread has the result: shared memory may be written again
};

constexpr std::string_view name_of(Barrier barrier) {
  switch (barrier) {
    case Barrier::kUnnamed:
      return "unnamed";
    case Barrier::kValuesStored:
      return "values_stored";
    case Barrier::kHalved:
      return "halved";
    case Barrier::kResultRead:
      break;
  }
  return "result_read";
}

}  // namespace brink
