#include "kernels/execution/interval.h"

#include <algorithm>
#include <limits>

namespace brink {

std::vector<Interval> normalized(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& i) { return i.first > i.last; });
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.first < b.first; });
  std::vector<Interval> result;
  for (const Interval& i : intervals) {
    const bool joins = !result.empty() &&
                       (result.back().last == std::numeric_limits<int64_t>::max() || i.first <= result.back().last + 1);
    if (joins) {
      result.back().last = std::max(result.back().last, i.last);
    } else {
      result.push_back(i);
    }
  }
  return result;
}

void IntervalSet::insert(int64_t first, int64_t last) {
  if (first > last) return;
  if (!parts_.empty()) {
    Interval& back = parts_.back();
    if (first >= back.first && last <= back.last) return;
    if (first == back.last + 1) {
      back.last = last;
      return;
    }
    if (last == back.first - 1) {
      back.first = first;
      return;
    }
  }
  parts_.push_back({first, last});
  if (parts_.size() >= next_tidy_) {
    parts_ = normalized(std::move(parts_));
    next_tidy_ = std::max<size_t>(1 << 12, 2 * parts_.size());
  }
}

}  // namespace brink
