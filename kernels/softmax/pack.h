#pragma once

#include "kernels/index/platform.h"

namespace brink {

/// `K` values that one thread loads or stores together.
template <class Acc, int K>
struct Pack {
  Acc v[K];
};

/// Compile-time number of elements.
template <int K>
struct Count {
  static constexpr int value = K;
};

}  // namespace brink
