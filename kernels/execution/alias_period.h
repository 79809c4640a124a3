#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/execution/interval.h"
#include "kernels/index/checked.h"

// Arithmetic of aliased memory: one physical filler of kPeriodBytes is mapped over a whole tensor, slot by slot, but
// for single pages that have memory of their own. Offsets are of elements or bytes from the tensor's start.

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

constexpr int64_t page_elements(int64_t element_bytes) { return kPageBytes / element_bytes; }

/// Pages of a tensor of `numel` >= 1 elements; the last one may be used in part.
constexpr int64_t page_count(int64_t numel, int64_t element_bytes) {
  return ceil_div(numel, page_elements(element_bytes));
}

/// Slots of a tensor of `numel` >= 1 elements; the last one may be shorter than the others.
constexpr int64_t slot_count(int64_t numel, int64_t element_bytes) {
  return ceil_div(page_count(numel, element_bytes), kPeriodPages);
}

/// The pages, sorted, that need memory of their own: those that contain an element of `windows`, and the last one,
/// whose end is not the filler's. Elements outside 0 .. numel - 1 are ignored.
inline std::vector<int64_t> own_pages(int64_t numel, int64_t element_bytes, const std::vector<Interval>& windows) {
  const int64_t elements = page_elements(element_bytes);
  std::vector<int64_t> pages;
  for (const Interval& window : normalized(windows)) {
    const int64_t first = std::max<int64_t>(window.first, 0);
    const int64_t last = std::min(window.last, numel - 1);
    if (first > last) continue;
    int64_t page = first / elements;
    if (!pages.empty() && pages.back() == page) ++page;
    for (; page <= last / elements; ++page) pages.push_back(page);
  }
  const int64_t end = page_count(numel, element_bytes) - 1;
  if (pages.empty() || pages.back() != end) pages.push_back(end);
  return pages;
}

/// The slots, sorted, that contain one of `pages`, which are sorted.
inline std::vector<int64_t> slots_of(const std::vector<int64_t>& pages) {
  std::vector<int64_t> slots;
  for (const int64_t page : pages) {
    if (slots.empty() || slots.back() != page / kPeriodPages) slots.push_back(page / kPeriodPages);
  }
  return slots;
}

}  // namespace brink
