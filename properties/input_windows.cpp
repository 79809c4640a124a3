#include "properties/input_windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/execution/alias_period.h"
#include "properties/filler_value.h"

namespace brink {

namespace {
constexpr int64_t kLevelRowsMax = 64;
}

std::vector<Interval> input_windows(const ClosedForm& form, const std::vector<Interval>& windows) {
  const Decomposition& shape = form.shape;
  std::vector<Interval> result = windows;
  for (const Interval& window : windows) {
    // The window's other columns are neighbours of its ends' columns or, where it holds whole columns, lie inside it.
    // In no row are they further from those than the window is long; but a page may end in between.
    const int64_t length = window.last - window.first + 1;
    for (const int64_t n : {window.first, window.last}) {
      Position at = position_of(shape, n);
      const int64_t first = form.uses_levels() ? 0 : form.hot_dim();
      const int64_t last = form.uses_levels() ? shape.dim_size - 1 : form.hot_dim();
      for (at.dim = first; at.dim <= last; ++at.dim) {
        const int64_t element = linear_index(shape, at);
        result.push_back({std::max<int64_t>(element - length, 0), std::min(element + length, shape.numel() - 1)});
      }
    }
  }
  return normalized(std::move(result));
}

InputValue aliased_input(const ClosedForm& form, const std::vector<Interval>& windows) {
  const int64_t element_bytes = size_of(form.dtype);
  return [form, element_bytes, own = own_pages(form.shape.numel(), element_bytes, windows)](int tensor, int64_t n) {
    const bool is_own = std::binary_search(own.begin(), own.end(), n / page_elements(element_bytes));
    return is_own ? form.input(tensor, n) : filler_value(form, tensor, n);
  };
}

std::string aliased_refusal(const ClosedForm& form) {
  if (!form.uses_levels() || form.shape.dim_size <= kLevelRowsMax) return "";
  return fmt::format("aliased memory cannot hold this closed form's rows: dim_size {} is above {}", form.shape.dim_size,
                     kLevelRowsMax);
}

}  // namespace brink
