#include "properties/box.h"

#include <algorithm>
#include <tuple>

namespace brink {

namespace {

bool empty(const Interval& i) { return i.first > i.last; }

void push(std::vector<Box>& boxes, const Interval& outer, const Interval& dim, const Interval& inner) {
  if (!empty(outer) && !empty(dim) && !empty(inner)) boxes.push_back({outer, dim, inner});
}

// Whole rows first .. last, where row = outer * dim_size + dim.
void push_rows(std::vector<Box>& boxes, const Decomposition& shape, int64_t first, int64_t last) {
  if (first > last) return;
  const Interval inner{0, shape.inner_size - 1};
  const int64_t size = shape.dim_size;
  const int64_t outer_first = first / size;
  const int64_t outer_last = last / size;
  if (outer_first == outer_last) {
    push(boxes, {outer_first, outer_first}, {first % size, last % size}, inner);
    return;
  }
  const bool head = first % size != 0;
  const bool tail = last % size != size - 1;
  if (head && tail && first % size == last % size + 1) {
    // The last part ends where the first begins: two boxes, one slice apart.
    push(boxes, {outer_first, outer_last - 1}, {first % size, size - 1}, inner);
    push(boxes, {outer_first + 1, outer_last}, {0, last % size}, inner);
    return;
  }
  if (head) push(boxes, {outer_first, outer_first}, {first % size, size - 1}, inner);
  push(boxes, {outer_first + (head ? 1 : 0), outer_last - (tail ? 1 : 0)}, {0, size - 1}, inner);
  if (tail) push(boxes, {outer_last, outer_last}, {0, last % size}, inner);
}

void push_interval(std::vector<Box>& boxes, const Decomposition& shape, const Interval& interval) {
  const int64_t size = shape.inner_size;
  const int64_t row_first = interval.first / size;
  const int64_t row_last = interval.last / size;
  const auto push_part = [&](int64_t row, int64_t first, int64_t last) {
    const int64_t outer = row / shape.dim_size;
    const int64_t dim = row % shape.dim_size;
    push(boxes, {outer, outer}, {dim, dim}, {first, last});
  };
  if (row_first == row_last) {
    push_part(row_first, interval.first % size, interval.last % size);
    return;
  }
  const bool head = interval.first % size != 0;
  const bool tail = interval.last % size != size - 1;
  const int64_t outer = row_first / shape.dim_size;
  if (head && tail && interval.first % size == interval.last % size + 1 && outer == row_last / shape.dim_size) {
    const int64_t dim = row_first % shape.dim_size;
    const int64_t dim_last = row_last % shape.dim_size;
    push(boxes, {outer, outer}, {dim, dim_last - 1}, {interval.first % size, size - 1});
    push(boxes, {outer, outer}, {dim + 1, dim_last}, {0, interval.last % size});
    return;
  }
  if (head) push_part(row_first, interval.first % size, size - 1);
  push_rows(boxes, shape, row_first + (head ? 1 : 0), row_last - (tail ? 1 : 0));
  if (tail) push_part(row_last, 0, interval.last % size);
}

// One pass: boxes that agree in two axes and touch in the third become one.
template <class Key, class Axis>
bool join_along(std::vector<Box>& boxes, const Key& key, const Axis& axis) {
  std::sort(boxes.begin(), boxes.end(), [&](const Box& a, const Box& b) {
    return std::make_tuple(key(a), axis(a).first) < std::make_tuple(key(b), axis(b).first);
  });
  std::vector<Box> result;
  for (const Box& box : boxes) {
    if (!result.empty() && key(result.back()) == key(box) && axis(result.back()).last + 1 == axis(box).first) {
      axis(result.back()).last = axis(box).last;
    } else {
      result.push_back(box);
    }
  }
  const bool changed = result.size() != boxes.size();
  boxes = std::move(result);
  return changed;
}

}  // namespace

std::vector<Box> joined(std::vector<Box> boxes) {
  const auto flat = [](const Interval& a, const Interval& b) {
    return std::make_tuple(a.first, a.last, b.first, b.last);
  };
  bool changed = true;
  while (changed && boxes.size() > 1) {
    changed = join_along(
        boxes, [&](const Box& b) { return flat(b.outer, b.dim); }, [](auto& b) -> auto& { return b.inner; });
    changed |= join_along(
        boxes, [&](const Box& b) { return flat(b.outer, b.inner); }, [](auto& b) -> auto& { return b.dim; });
    changed |= join_along(
        boxes, [&](const Box& b) { return flat(b.dim, b.inner); }, [](auto& b) -> auto& { return b.outer; });
  }
  std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) {
    return std::make_tuple(a.outer.first, a.dim.first, a.inner.first) <
           std::make_tuple(b.outer.first, b.dim.first, b.inner.first);
  });
  return boxes;
}

std::vector<Box> boxes_of(const Decomposition& shape, const std::vector<Interval>& intervals) {
  std::vector<Box> boxes;
  for (const Interval& interval : intervals) {
    if (!empty(interval)) push_interval(boxes, shape, interval);
  }
  return joined(std::move(boxes));
}

bool contains(const std::vector<Box>& boxes, const Position& at) {
  return std::any_of(boxes.begin(), boxes.end(), [&](const Box& box) { return box.contains(at); });
}

int64_t count_elements(const std::vector<Box>& boxes) {
  const auto length = [](const Interval& i) { return i.last - i.first + 1; };
  int64_t total = 0;
  // Disjoint boxes of one tensor: the sum is at most numel.
  for (const Box& box : boxes) total += length(box.outer) * length(box.dim) * length(box.inner);
  return total;
}

std::vector<Interval> intersect(const Decomposition& shape, const std::vector<Box>& boxes, const Interval& range) {
  std::vector<Interval> result;
  if (empty(range)) return result;
  const int64_t row = shape.inner_size;
  const int64_t slice = shape.inner_size * shape.dim_size;
  const auto clip = [&](int64_t first, int64_t last) {
    first = std::max(first, range.first);
    last = std::min(last, range.last);
    if (first <= last) result.push_back({first, last});
  };
  const auto whole = [](const Interval& i, int64_t size) { return i.first == 0 && i.last == size - 1; };
  for (const Box& box : boxes) {
    const int64_t outer_first = std::max(box.outer.first, range.first / slice);
    const int64_t outer_last = std::min(box.outer.last, range.last / slice);
    if (whole(box.inner, shape.inner_size) && whole(box.dim, shape.dim_size)) {
      if (outer_first <= outer_last) clip(outer_first * slice, (outer_last + 1) * slice - 1);
      continue;
    }
    for (int64_t outer = outer_first; outer <= outer_last; ++outer) {
      const int64_t base = outer * slice;
      if (whole(box.inner, shape.inner_size)) {
        clip(base + box.dim.first * row, base + (box.dim.last + 1) * row - 1);
        continue;
      }
      const int64_t dim_first = std::max(box.dim.first, range.first < base ? 0 : (range.first - base) / row);
      const int64_t dim_last =
          std::min(box.dim.last, range.last - base >= slice ? shape.dim_size - 1 : (range.last - base) / row);
      for (int64_t dim = dim_first; dim <= dim_last; ++dim) {
        clip(base + dim * row + box.inner.first, base + dim * row + box.inner.last);
      }
    }
  }
  return normalized(std::move(result));
}

int64_t interval_count(const Decomposition& shape, const std::vector<Box>& boxes) {
  int64_t total = 0;
  const auto length = [](const Interval& i) { return i.last - i.first + 1; };
  for (const Box& box : boxes) {
    const bool whole_rows = box.inner.first == 0 && box.inner.last == shape.inner_size - 1;
    const bool whole_slices = whole_rows && box.dim.first == 0 && box.dim.last == shape.dim_size - 1;
    total += whole_slices ? 1 : whole_rows ? length(box.outer) : length(box.outer) * length(box.dim);
  }
  return total;
}

}  // namespace brink
