#include "properties/smallest_case.h"

#include <algorithm>
#include <array>
#include <optional>

#include "kernels/index/checked.h"

namespace brink {

namespace {

// The smallest size on `axis` that fails, where `high` does and all from `low` down are taken not to.
int64_t smallest_size(const Case& c, Decomposition shape, int axis, int64_t low, int64_t high, const Fails& fails) {
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    size_at(shape, axis) = middle;
    (fails(with_decomposition(c, shape)) ? high : low) = middle;
  }
  return high;
}

class Search {
 public:
  Search(const Case& like, OccupancyQuery& occupancy, Exact max_memory, const Fails& fails)
      : like_(like), occupancy_(occupancy), max_memory_(max_memory), fails_(fails) {
    for_its_width_ = leaves_index_type(like, std::get<Decomposition>(decompose(like)));
  }

  std::vector<Case> run() {
    if (!for_its_width_ || limits_of(like_.implementation.index_type).bits == 8) {
      every_small_shape();
    } else {
      for (const DType dtype : kDTypes) {
        like_.dtype = dtype;
        every_family();
      }
    }
    std::sort(found_.begin(), found_.end(), [](const Case& a, const Case& b) { return simplicity(a) < simplicity(b); });
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    std::erase_if(found_, [&](const Case& c) { return memory_of(c) > max_memory_; });
    return std::move(found_);
  }

 private:
  // Sizes that the axes take which are not solved for: those that a launch treats in a way of their own (a vector, a
  // warp, a block and their neighbours), and powers of two.
  static constexpr int64_t kSizes[] = {
      1,   2,   3,   4,   5,   7,   8,   9,    15,   16,   17,   31,   32,   33,    63,    64,    65,      127,    128,
      129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2048, 4096, 8192, 65535, 65536, 65537, 1 << 20, 1 << 22};
  static constexpr int64_t kSizesOfRank3[] = {1, 2, 3, 4, 5, 8, 16, 17, 63, 64, 65, 1024};

  void offer(const Case& c) {
    found_.push_back(c);
    // Some of the next best are kept, for a device that does not take the best.
    max_memory_ = std::min(max_memory_, memory_of(c) + memory_of(c) / 8);
  }

  // Where every value that the launch computes fits in the index type, nothing fails for its width.
  bool leaves_index_type(const Case& c, const Decomposition& shape) {
    const Implementation& i = c.implementation;
    const auto sized = size_launch(shape, c.operation, c.dtype, i.index_type, i.kernel_limits(), occupancy_);
    const auto* launch = std::get_if<SizedLaunch>(&sized);
    return launch == nullptr || largest_index_value(shape, *launch, c.dtype) > limits_of(i.index_type).max;
  }

  bool has_path(const Decomposition& shape) const {
    return !like_.implementation.path || *like_.implementation.path == path_of(shape);
  }

  void every_small_shape() {
    constexpr int64_t kMost = 4096;
    for (int64_t bytes = 1; bytes <= std::min<Exact>(max_memory_, kMost); ++bytes) {
      for (const DType dtype : kDTypes) {
        if (bytes % size_of(dtype) != 0) continue;
        like_.dtype = dtype;
        const int64_t numel = bytes / size_of(dtype);
        for (int64_t outer = 1; outer <= numel; ++outer) {
          if (numel % outer != 0) continue;
          for (int64_t dim = 1; dim <= numel / outer; ++dim) {
            if (numel / outer % dim != 0) continue;
            const Decomposition shape{outer, dim, numel / outer / dim};
            if (!has_path(shape) || (for_its_width_ && !leaves_index_type(like_, shape))) continue;
            const Case c = with_decomposition(like_, shape);
            if (fails_(c)) offer(c);
          }
        }
      }
    }
  }

  void every_family() {
    for (int axis = 0; axis < 3; ++axis) {
      for (const int64_t a : kSizes) family({a, a, 1}, axis, axis != 2);
      for (const int64_t a : kSizes) family({1, a, a}, axis, axis != 0);
    }
    for (int axis = 0; axis < 3; ++axis) {
      for (const int64_t a : kSizesOfRank3) {
        for (const int64_t b : kSizesOfRank3) {
          Decomposition shape{a, a, b};
          if (axis == 1) shape = {a, 1, b};
          if (axis == 2) shape = {a, b, 1};
          family(shape, axis, true);
        }
      }
    }
  }

  // Solves for the size on `axis`.
  void family(Decomposition shape, int axis, bool wanted) {
    size_at(shape, axis) = 1;
    const int64_t others = shape.numel();
    const Exact last = max_memory_ / size_of(like_.dtype) / others;
    if (!wanted || last < 2) return;
    const auto most = static_cast<int64_t>(std::min<Exact>(last, INT64_MAX / 16 / others));
    const auto with_size = [&](int64_t size) {
      size_at(shape, axis) = size;
      return with_decomposition(like_, shape);
    };
    const auto leaves = [&](int64_t size) {
      size_at(shape, axis) = size;
      return leaves_index_type(like_, shape);
    };
    if (!leaves(most)) return;
    int64_t low = 0;
    int64_t first = most;
    while (first - low > 1) {
      const int64_t middle = low + (first - low) / 2;
      (leaves(middle) ? first : low) = middle;
    }
    for (const int64_t size : probes(first, most, others)) {
      size_at(shape, axis) = size;
      if (!has_path(shape) || !fails_(with_size(size))) {
        low = size;
        continue;
      }
      const int64_t smallest = smallest_size(like_, shape, axis, low, size, fails_);
      const Case solved = with_size(smallest);
      offer(solved);
      // A less odd size in the same memory.
      for (const int64_t better : near_powers(smallest + 1, most)) {
        const Case c = with_size(better);
        if (memory_of(c) > memory_of(solved)) break;
        if (oddness(better) < oddness(smallest) && fails_(c)) offer(c);
      }
      return;
    }
  }

  static std::vector<int64_t> near_powers(int64_t first, int64_t last) {
    std::vector<int64_t> result;
    for (int bits = 0; bits < 62; ++bits) {
      for (int64_t d = -2; d <= 2; ++d) {
        const int64_t size = (int64_t{1} << bits) + d;
        if (size >= first && size <= last) result.push_back(size);
      }
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  // Where a size is looked at: from the first that leaves the index type, near powers of two, and where the whole
  // tensor has as many elements as the index type has values.
  std::vector<int64_t> probes(int64_t first, int64_t last, int64_t others) const {
    std::vector<int64_t> result = near_powers(first, last);
    const IndexLimits limits = limits_of(like_.implementation.index_type);
    const auto add = [&](int64_t size) {
      if (size >= first && size <= last) result.push_back(size);
    };
    for (int64_t d = 0; d <= 2; ++d) add(first + d);
    for (const Exact values : {static_cast<Exact>(limits.max) + 1, static_cast<Exact>(1) << limits.bits}) {
      for (int64_t d = -1; d <= 2; ++d) add(static_cast<int64_t>(values / others) + d);
    }
    add(last);
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  Case like_;
  OccupancyQuery& occupancy_;
  Exact max_memory_;
  const Fails& fails_;
  bool for_its_width_ = true;  ///< that it fails; else for its launch, which small shapes show as well
  std::vector<Case> found_;
};

}  // namespace

std::vector<Case> smallest_cases(const Case& like, OccupancyQuery& occupancy, Exact max_memory, const Fails& fails) {
  return Search(like, occupancy, max_memory, fails).run();
}

Case descend(Case c, const Fails& fails) {
  const auto take = [&](const Case& candidate) {
    if (simplicity(candidate) >= simplicity(c) || !fails(candidate)) return false;
    c = candidate;
    return true;
  };
  take(with_decomposition(c, std::get<Decomposition>(decompose(c))));
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const DType dtype : kDTypes) {
      Case candidate = c;
      candidate.dtype = dtype;
      if (take(candidate)) smaller = true;
    }
    // The same elements in fewer dimensions.
    const auto whole = std::get<Decomposition>(decompose(c));
    for (const Decomposition& merged : {Decomposition{1, whole.dim_size, whole.outer_size * whole.inner_size},
                                        Decomposition{1, whole.outer_size * whole.dim_size, whole.inner_size}}) {
      if (take(with_decomposition(c, merged))) smaller = true;
    }
    for (const int axis : {0, 2, 1}) {
      auto shape = std::get<Decomposition>(decompose(c));
      const int64_t size = size_at(shape, axis);
      if (size <= 1) continue;
      size_at(shape, axis) = 1;
      if (take(with_decomposition(c, shape))) {
        smaller = true;
        continue;
      }
      const int64_t smallest = smallest_size(c, shape, axis, 1, size, fails);
      if (smallest == size) continue;
      size_at(shape, axis) = smallest;
      // It failed when it was found; only the order can be against it (a rounder number in the same memory).
      const Case candidate = with_decomposition(c, shape);
      if (simplicity(candidate) < simplicity(c)) {
        c = candidate;
        smaller = true;
      }
    }
  }
  return c;
}

}  // namespace brink
