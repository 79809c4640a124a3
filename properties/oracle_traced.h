#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "kernels/execution/host_run.h"
#include "kernels/index/traced.h"
#include "properties/column_value.h"
#include "properties/oracle.h"

// The traced engine: the kernel itself, run over a memory that only notes where it reads and writes.

namespace brink {

/// What a traced run leaves behind.
struct TraceLog {
  struct Write {
    Exact meant = 0;
    uint64_t bits = 0;
  };
  std::vector<std::vector<Write>> writes;  ///< by address, inside the tensor
  IntervalSet out_of_bounds;
  std::optional<Exact> first_bad;  ///< smallest element index that was meant and missed
  Overflow first_overflow;

  void note(Exact meant, const Overflow& origin) {
    if (first_bad && *first_bad <= meant) return;
    first_bad = meant;
    first_overflow = origin;
  }
};

template <class T>
class TracedMemory {
 public:
  using Traits = ElementTraits<T>;
  using Acc = typename Traits::Acc;
  static constexpr int kVector = Traits::kVector;

  TracedMemory(const ClosedForm& form, TraceLog& log) : form_(form), numel_(form.shape.numel()), log_(&log) {}

  template <int K, class I>
  Pack<Acc, K> load(int tensor, const I& at) const {
    note(at);
    Pack<Acc, K> result;
    const auto first = static_cast<int64_t>(address(at));
    for (int k = 0; k < K; ++k) {
      const int64_t n = first + k;
      if (n < 0 || n >= numel_) {
        log_->out_of_bounds.insert(n);
        result.v[k] = std::numeric_limits<Acc>::quiet_NaN();
      } else {
        result.v[k] = Traits::load(Traits::store(static_cast<Acc>(form_.input(tensor, n))));
      }
    }
    return result;
  }
  template <int K, class I>
  void store(const I& at, const Pack<Acc, K>& values) const {
    note(at);
    const auto first = static_cast<int64_t>(address(at));
    for (int k = 0; k < K; ++k) {
      const int64_t n = first + k;
      if (n < 0 || n >= numel_) {
        log_->out_of_bounds.insert(n);
        continue;
      }
      const T value = Traits::store(values.v[k]);
      typename Traits::Bits bits;
      std::memcpy(&bits, &value, sizeof(bits));
      log_->writes[static_cast<size_t>(n)].push_back({at.exact + k, bits});
    }
  }
  Acc round(Acc value) const { return Traits::load(Traits::store(value)); }
  template <class I>
  int misalignment(const I& base) const {
    return static_cast<int>(address(base) & (kVector - 1));
  }

 private:
  template <class I>
  void note(const I& at) const {
    if (at.differs()) log_->note(at.exact, at.origin);
  }

  const ClosedForm& form_;
  int64_t numel_;
  TraceLog* log_;
};

/// Runs the kernel of `launching`, traced, for element type T; instantiated once each, in oracle_traced_*.cpp.
template <class T>
BlockEnd trace_typed(const Launching& launching, TraceLog& log) {
  const TracedMemory<T> memory(launching.form, log);
  static thread_local HostBlock block;
  const auto run = [&](auto operation, auto variant, auto index) {
    using I = Traced<decltype(index)>;
    const auto body = [&](HostThread& thread) {
      run_kernel<decltype(operation)::value, decltype(variant)::value, I>(thread, memory, launching.shape);
    };
    const Launch& launch = launching.dispatch.sized.launch;
    const int64_t limit = loop_limit(launching.shape, launch, launching.dispatch.index_type);
    return for_each_block(launch, nullptr, [&](const BlockPart& part) {
      return run_part(block, launch, launching.dispatch.sized.variant, limit, part, body);
    });
  };
  return with_operation(launching.operation, [&](auto operation) {
    return with_variant(launching.dispatch.sized.variant, [&](auto variant) {
      switch (launching.dispatch.index_type) {
        case IndexType::kU8:
          return run(operation, variant, uint8_t{});
        case IndexType::kI8:
          return run(operation, variant, int8_t{});
        case IndexType::kU16:
          return run(operation, variant, uint16_t{});
        default:
          return run(operation, variant, int16_t{});
      }
    });
  });
}

extern template BlockEnd trace_typed<F16>(const Launching&, TraceLog&);
extern template BlockEnd trace_typed<BF16>(const Launching&, TraceLog&);
extern template BlockEnd trace_typed<float>(const Launching&, TraceLog&);
extern template BlockEnd trace_typed<double>(const Launching&, TraceLog&);

}  // namespace brink
