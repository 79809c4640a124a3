#pragma once

#include <cstdint>
#include <vector>

#include "kernels/execution/interval.h"
#include "kernels/softmax/decomposition.h"

namespace brink {

/// A block of elements over (outer, dim, inner); all bounds are inclusive.
struct Box {
  Interval outer;
  Interval dim;
  Interval inner;

  bool contains(const Position& at) const {
    return outer.first <= at.outer && at.outer <= outer.last && dim.first <= at.dim && at.dim <= dim.last &&
           inner.first <= at.inner && at.inner <= inner.last;
  }
  bool operator==(const Box&) const = default;
};

/// The elements of linear intervals as disjoint boxes: at most five for each interval, fewer where boxes join.
/// Intervals must lie in 0 .. numel - 1.
std::vector<Box> boxes_of(const Decomposition& shape, const std::vector<Interval>& intervals);

/// Joins boxes that make one box together, and sorts them.
std::vector<Box> joined(std::vector<Box> boxes);

bool contains(const std::vector<Box>& boxes, const Position& at);

/// Elements in all boxes together; they must be disjoint. Saturates.
int64_t count_elements(const std::vector<Box>& boxes);

/// The part of the linear interval `range` that lies in `boxes`, as linear intervals.
std::vector<Interval> intersect(const Decomposition& shape, const std::vector<Box>& boxes, const Interval& range);

/// Linear intervals that `boxes` are made of, at most.
int64_t interval_count(const Decomposition& shape, const std::vector<Box>& boxes);

}  // namespace brink
