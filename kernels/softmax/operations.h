#pragma once

#include <cmath>
#include <limits>

#include "kernels/index/platform.h"
#include "kernels/softmax/operation.h"
#include "kernels/softmax/pack.h"

// The four operations on one column, independent of how the column is walked. `Memory` loads and stores elements,
// `visit(f)` calls f(Count<K>, address) for every element of the column that the calling thread owns, `reduce(value,
// combine)` joins the values of the threads that share the column. Closed forms and rounding follow PyTorch: softmax
// backward rounds grad * output to the element type before it sums.

namespace brink {

template <class Acc>
struct Sum {
  BRINK_HOST_DEVICE Acc operator()(Acc a, Acc b) const { return a + b; }
};

template <class Acc>
struct Max {
  BRINK_HOST_DEVICE Acc operator()(Acc a, Acc b) const { return a < b ? b : a; }
};

namespace detail {

template <bool kLog, class Memory, class Visit, class Reduce>
BRINK_HOST_DEVICE void forward_column(const Memory& memory, Visit&& visit, Reduce&& reduce) {
  using Acc = typename Memory::Acc;
  Acc max = std::numeric_limits<Acc>::lowest();
  visit([&](auto count, auto at) {
    const auto x = memory.template load<decltype(count)::value>(0, at);
    for (const Acc v : x.v) max = Max<Acc>()(max, v);
  });
  max = reduce(max, Max<Acc>());
  Acc sum = 0;
  visit([&](auto count, auto at) {
    const auto x = memory.template load<decltype(count)::value>(0, at);
    for (const Acc v : x.v) sum += std::exp(v - max);
  });
  sum = reduce(sum, Sum<Acc>());
  const Acc log_sum = kLog ? std::log(sum) : Acc(0);
  visit([&](auto count, auto at) {
    auto x = memory.template load<decltype(count)::value>(0, at);
    for (Acc& v : x.v) v = kLog ? (v - max) - log_sum : std::exp(v - max) / sum;
    memory.store(at, x);
  });
}

template <bool kLog, class Memory, class Visit, class Reduce>
BRINK_HOST_DEVICE void backward_column(const Memory& memory, Visit&& visit, Reduce&& reduce) {
  using Acc = typename Memory::Acc;
  Acc sum = 0;
  visit([&](auto count, auto at) {
    constexpr int kCount = decltype(count)::value;
    const auto grad = memory.template load<kCount>(0, at);
    if constexpr (kLog) {
      for (const Acc g : grad.v) sum += g;
    } else {
      const auto output = memory.template load<kCount>(1, at);
      for (int k = 0; k < kCount; ++k) sum += memory.round(grad.v[k] * output.v[k]);
    }
  });
  sum = reduce(sum, Sum<Acc>());
  visit([&](auto count, auto at) {
    constexpr int kCount = decltype(count)::value;
    auto grad = memory.template load<kCount>(0, at);
    const auto output = memory.template load<kCount>(1, at);
    for (int k = 0; k < kCount; ++k) {
      const Acc o = output.v[k];
      grad.v[k] = kLog ? grad.v[k] - std::exp(o) * sum : memory.round(grad.v[k] * o) - o * sum;
    }
    memory.store(at, grad);
  });
}

}  // namespace detail

/// Runs `kOperation` on one column.
template <Operation kOperation, class Memory, class Visit, class Reduce>
BRINK_HOST_DEVICE void run_column(const Memory& memory, Visit&& visit, Reduce&& reduce) {
  if constexpr (is_forward(kOperation)) {
    detail::forward_column<is_log(kOperation)>(memory, visit, reduce);
  } else {
    detail::backward_column<is_log(kOperation)>(memory, visit, reduce);
  }
}

}  // namespace brink
