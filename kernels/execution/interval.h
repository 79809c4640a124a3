#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace brink {

/// Linear element addresses first .. last, both included; first may be negative.
struct Interval {
  int64_t first = 0;
  int64_t last = -1;
  bool operator==(const Interval&) const = default;
};

/// Sorts, drops empty intervals and joins those that overlap or touch.
std::vector<Interval> normalized(std::vector<Interval> intervals);

/// Collects single addresses and ranges; kept small by joining neighbours as they come.
class IntervalSet {
 public:
  void insert(int64_t first, int64_t last);
  void insert(int64_t address) { insert(address, address); }
  void clear() { parts_.clear(); }
  bool empty() const { return parts_.empty(); }
  std::vector<Interval> intervals() const { return normalized(parts_); }

 private:
  std::vector<Interval> parts_;
  std::size_t next_tidy_ = 1 << 12;
};

}  // namespace brink
