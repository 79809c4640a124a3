#include "properties/memory_needed.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "kernels/execution/alias_period.h"
#include "kernels/index/checked.h"
#include "properties/input_windows.h"

namespace brink {

namespace {

constexpr int64_t kHostPage = 4096;

// One tensor in a GPU's aliased memory: the filler, whole and by its pages, and the pages that have memory of their
// own.
int64_t aliased_on_gpu(int64_t numel, int64_t element_bytes, const std::vector<Interval>& windows) {
  const auto own = static_cast<int64_t>(own_pages(numel, element_bytes, windows).size());
  return 2 * kPeriodBytes + own * kPageBytes;
}

int64_t aliased_on_host(int64_t numel, int64_t element_bytes, const std::vector<Interval>& windows) {
  const auto own = slots_of(own_pages(numel, element_bytes, windows));
  return (static_cast<int64_t>(own.size()) + 1) * kPeriodBytes;
}

}  // namespace

int64_t memory_needed(const Case& c, const Decomposition& shape, const std::vector<Interval>& windows, Device device) {
  const int64_t numel = shape.numel();
  const int64_t size = size_of(c.dtype);
  const int64_t inputs = input_count(c.operation);
  const bool gpu = device == Device::kCuda;
  if (c.memory == MemoryKind::kDense || (!gpu && numel <= kWholeMax)) {
    const int64_t page = gpu ? kPageBytes : kHostPage;
    return (1 + inputs) * ceil_div(numel * size, page) * page;
  }
  if (c.memory == MemoryKind::kSparse) {
    int64_t pages = 0;
    for (const Interval& window : windows)
      pages += window.last * size / kHostPage - window.first * size / kHostPage + 1;
    return pages * kHostPage;
  }
  const auto one = gpu ? aliased_on_gpu : aliased_on_host;
  const int64_t tensors =
      one(numel, size, windows) + inputs * one(numel, size, input_windows(closed_form_of(c, shape), windows));
  // The tripwires of the inputs and of the output: a slot and a page each.
  return gpu ? tensors + 2 * (kPeriodBytes + kPageBytes) : tensors;
}

std::optional<int64_t> parse_bytes(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},         {"B", 1},    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30},
      {"TiB", 0x1p40}, {"KB", 1e3}, {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};
  for (const auto& [name, factor] : kUnits) {
    if (unit != name) continue;
    const double bytes = value * factor;
    if (bytes >= 0x1p62) return std::nullopt;
    return static_cast<int64_t>(bytes);
  }
  return std::nullopt;
}

}  // namespace brink
