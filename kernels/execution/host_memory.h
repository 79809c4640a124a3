#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/execution/interval.h"
#include "kernels/index/arithmetic.h"
#include "kernels/softmax/dtype.h"
#include "kernels/softmax/pack.h"
#include "kernels/softmax/stamp.h"

namespace brink {

/// Gives the value of an input element, for memory whose inputs are never stored.
class InputSource {
 public:
  virtual ~InputSource() = default;
  /// Value of element `n` of input tensor `tensor`, exact in the element type.
  virtual double input(int tensor, int64_t n) const = 0;
};

/// A range of output elements that is looked at, and how often each was written (saturating).
struct Window {
  int64_t first = 0;
  int64_t last = -1;
  std::vector<uint8_t> writes;
};

/// The tensors of one execution on the host, as untyped memory, and what the kernel did to them. Element addresses
/// outside 0 .. numel - 1 are noted; they read NaN and their writes are dropped, unless `fault_out_of_bounds`.
struct HostTensors {
  void* inputs[2] = {nullptr, nullptr};
  void* output = nullptr;
  int64_t numel = 0;
  const InputSource* source = nullptr;  ///< null: the inputs are filled, and outputs are stored everywhere
  bool fault_out_of_bounds = false;     ///< access the address all the same: it is mapped without permissions
  std::vector<Window> windows;          ///< sorted, disjoint
  IntervalSet out_of_bounds;
  KernelStamp stamp;  ///< left by the first thread that runs
};

/// What a kernel on the host loads from and stores to.
template <class T>
class HostMemory {
 public:
  using Traits = ElementTraits<T>;
  using Acc = typename Traits::Acc;
  static constexpr int kVector = Traits::kVector;

  explicit HostMemory(HostTensors& tensors) : tensors_(&tensors) {}

  template <int K, class I>
  Pack<Acc, K> load(int tensor, const I& at) const {
    Pack<Acc, K> result;
    const auto first = static_cast<int64_t>(address(at));
    for (int k = 0; k < K; ++k) result.v[k] = load_one(tensor, first + k);
    return result;
  }
  template <int K, class I>
  void store(const I& at, const Pack<Acc, K>& values) const {
    const auto first = static_cast<int64_t>(address(at));
    for (int k = 0; k < K; ++k) store_one(first + k, values.v[k]);
  }
  Acc round(Acc value) const { return Traits::load(Traits::store(value)); }
  /// Elements between the last 16-byte boundary and element `base` of each tensor.
  template <class I>
  int misalignment(const I& base) const {
    const auto elements = static_cast<int64_t>(reinterpret_cast<uintptr_t>(tensors_->output) / sizeof(T));
    return static_cast<int>((elements + static_cast<int64_t>(address(base))) & (kVector - 1));
  }

 private:
  bool in_bounds(int64_t n) const { return static_cast<uint64_t>(n) < static_cast<uint64_t>(tensors_->numel); }

  Acc load_one(int tensor, int64_t n) const {
    T* data = static_cast<T*>(tensors_->inputs[tensor]);
    if (!in_bounds(n)) {
      tensors_->out_of_bounds.insert(n);
      if (tensors_->fault_out_of_bounds) return Traits::load(data[n]);
      return std::numeric_limits<Acc>::quiet_NaN();
    }
    if (tensors_->source != nullptr) {
      return Traits::load(Traits::store(static_cast<Acc>(tensors_->source->input(tensor, n))));
    }
    return Traits::load(data[n]);
  }
  void store_one(int64_t n, Acc value) const {
    T* data = static_cast<T*>(tensors_->output);
    if (!in_bounds(n)) {
      tensors_->out_of_bounds.insert(n);
      if (tensors_->fault_out_of_bounds) data[n] = Traits::store(value);
      return;
    }
    std::vector<Window>& windows = tensors_->windows;
    const auto after = std::upper_bound(windows.begin(), windows.end(), n,
                                        [](int64_t element, const Window& window) { return element < window.first; });
    const bool looked_at = after != windows.begin() && n <= std::prev(after)->last;
    // With a source, what is not looked at takes no memory.
    if (looked_at || tensors_->source == nullptr) data[n] = Traits::store(value);
    if (!looked_at) return;
    uint8_t& count = std::prev(after)->writes[static_cast<size_t>(n - std::prev(after)->first)];
    count = static_cast<uint8_t>(std::min(count + 1, 255));
  }

  HostTensors* tensors_;
};

}  // namespace brink
