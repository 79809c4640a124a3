#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/execution/interval.h"
#include "kernels/index/checked.h"

// Arithmetic of aliased memory: one physical filler of kPeriodBytes is mapped over a whole tensor, slot by slot.
// Offsets are of elements or bytes from the tensor's start.

namespace brink {

/// Pages of GPU memory: mappings are whole pages.
inline constexpr int64_t kPageBytes = int64_t{2} << 20;

/// An odd number of pages: with a power of two, an address that is off by 2^31 or 2^32 elements would meet the same
/// physical byte and the defect would be hidden. 7, the closed forms' usual prime, divides it, so that codes modulo 7
/// repeat with the filler.
inline constexpr int64_t kPeriodPages = 7;
inline constexpr int64_t kPeriodBytes = kPeriodPages * kPageBytes;

/// Elements in one slot; `element_bytes` is a power of two of at most kPageBytes.
constexpr int64_t period_elements(int64_t element_bytes) { return kPeriodBytes / element_bytes; }

/// Whether two bytes `distance` apart lie at the same byte of the filler.
constexpr bool same_filler_byte(int64_t distance, int64_t period_bytes) { return distance % period_bytes == 0; }

/// Slots of a tensor of `numel` >= 1 elements; the last one may be shorter than the others.
constexpr int64_t slot_count(int64_t numel, int64_t element_bytes) {
  return ceil_div(numel, period_elements(element_bytes));
}

/// Mapped bytes of slot `slot`: kPeriodBytes, or whole pages up to the tensor's end in the last slot.
constexpr int64_t slot_bytes(int64_t slot, int64_t numel, int64_t element_bytes) {
  const int64_t left = numel - slot * period_elements(element_bytes);
  return left >= period_elements(element_bytes) ? kPeriodBytes
                                                : ceil_div(left * element_bytes, kPageBytes) * kPageBytes;
}

/// The slots, sorted, that need memory of their own: those that contain an element of `windows`, and the last one,
/// whose end is not the filler's. Elements outside 0 .. numel - 1 are ignored.
inline std::vector<int64_t> own_slots(int64_t numel, int64_t element_bytes, const std::vector<Interval>& windows) {
  const int64_t period = period_elements(element_bytes);
  std::vector<int64_t> slots;
  for (const Interval& window : normalized(windows)) {
    const int64_t first = std::max<int64_t>(window.first, 0);
    const int64_t last = std::min(window.last, numel - 1);
    if (first > last) continue;
    int64_t slot = first / period;
    if (!slots.empty() && slots.back() == slot) ++slot;
    for (; slot <= last / period; ++slot) slots.push_back(slot);
  }
  const int64_t end = slot_count(numel, element_bytes) - 1;
  if (slots.empty() || slots.back() != end) slots.push_back(end);
  return slots;
}

}  // namespace brink
