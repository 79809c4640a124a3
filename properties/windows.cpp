#include "properties/windows.h"

#include <algorithm>

namespace brink {

std::vector<Interval> choose_windows(const Case& c, const Decomposition& shape, const Prediction& prediction) {
  constexpr int64_t kRowEnds = 4;
  constexpr size_t kBoxes = 16;
  const int64_t numel = shape.numel();
  std::vector<Interval> windows;
  const auto look_at = [&](int64_t n) {
    if (n < 0 || n >= numel) return;
    windows.push_back({std::max<int64_t>(0, n - kWindowRadius), std::min(numel, n + kWindowRadius) - 1});
  };
  look_at(0);
  look_at(numel - 1);
  for (int64_t row = 1; row <= std::min(kRowEnds, shape.outer_size * shape.dim_size - 1); ++row) {
    look_at(row * shape.inner_size);
  }
  for (const int bits : {31, 32}) {
    look_at(int64_t{1} << bits);
    look_at((int64_t{1} << bits) / size_of(c.dtype));
  }
  if (prediction.index_type && limits_of(*prediction.index_type).bits < 64) {
    const int bits = limits_of(*prediction.index_type).bits;
    for (const int64_t boundary : {int64_t{1} << (bits - 1), int64_t{1} << bits, (int64_t{1} << bits) * 2}) {
      look_at(boundary);
    }
    // Where the end of the tensor lands once it has wrapped.
    look_at((numel - 1) % (int64_t{1} << bits));
  }
  for (const auto* boxes : {&prediction.wrong, &prediction.never_written, &prediction.contended}) {
    for (size_t i = 0; i < std::min(kBoxes, boxes->size()); ++i) {
      const Box& box = (*boxes)[i];
      look_at(linear_index(shape, {box.outer.first, box.dim.first, box.inner.first}));
      look_at(linear_index(shape, {box.outer.last, box.dim.last, box.inner.last}));
    }
  }
  for (const int64_t element : prediction.hints) look_at(element);
  uint64_t state = c.seed;
  for (int i = 0; i < 2; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    look_at(static_cast<int64_t>((state >> 1) % static_cast<uint64_t>(numel)));
  }
  return normalized(std::move(windows));
}

}  // namespace brink
