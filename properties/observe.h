#pragma once

#include <cstring>

#include "kernels/execution/host_memory.h"
#include "properties/closed_form.h"
#include "properties/raw_observation.h"

namespace brink {

/// Looks at the windows of a finished run on the host: each element's bits against the closed form and the poison, and
/// how often it was written.
template <class T>
void observe_windows(const ClosedForm& form, const HostTensors& tensors, RawObservation& raw) {
  using Traits = ElementTraits<T>;
  using Bits = typename Traits::Bits;
  const T* output = static_cast<const T*>(tensors.output);
  IntervalSet wrong;
  IntervalSet unwritten;
  IntervalSet twice;
  for (const Window& window : tensors.windows) {
    for (int64_t n = window.first; n <= window.last; ++n) {
      const uint8_t writes = window.writes[static_cast<size_t>(n - window.first)];
      Bits bits;
      std::memcpy(&bits, output + n, sizeof(bits));
      const bool poisoned = bits == static_cast<Bits>(poison_bits(sizeof(T)));
      // The comparison is between stored values, so that a sum that only rounds to the right answer is right.
      const auto expected = Traits::load(Traits::store(static_cast<typename Traits::Acc>(form.expected(n))));
      const bool right = !poisoned && Traits::load(output[n]) == expected;
      if (writes > 1) twice.insert(n);
      if (poisoned) {
        unwritten.insert(n);
      } else if (!right && writes <= 1) {
        wrong.insert(n);
      }
      if (writes > 1 || (!poisoned && !right)) {
        if (raw.values.size() < RawObservation::kMaxValues) raw.values.push_back({n, bits});
      }
    }
  }
  raw.wrong = wrong.intervals();
  raw.unwritten = unwritten.intervals();
  raw.written_twice = twice.intervals();
  raw.out_of_bounds = tensors.out_of_bounds.intervals();
}

}  // namespace brink
