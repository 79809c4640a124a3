#include "fuzz/boundary_counters.h"

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>
#include <tuple>

#include "properties/matrix.h"

namespace brink {

namespace {

// Only libFuzzer reads it, which the compiler cannot know.
__attribute__((used, section("__libfuzzer_extra_counters"))) uint8_t extra_counters[kBoundaryCounters];

constexpr size_t kFarBuckets = 17;    // below half of the boundary
constexpr size_t kBelowBuckets = 17;  // 1, 2..7, 8..31, ... below it
constexpr size_t kAboveBuckets = 22;  // the same above it, up to 2^43
constexpr size_t kDistanceBuckets = kFarBuckets + kBelowBuckets + 1 + kAboveBuckets;
constexpr size_t kSides = 3;
constexpr size_t kLocations = 3;
constexpr size_t kForms = 4;
constexpr size_t kCountersPerSlot = kDistanceBuckets + kSides * kLocations * kForms;

constexpr size_t kAnyInput = kBoundaryCounters - 1;

size_t power_of_four(Exact v) { return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(v))) / 2; }

// A slot is one expression of one kernel and one of its boundaries.
using Slot = std::tuple<Variant, bool, IndexType, Expression, Boundary>;

const std::map<Slot, size_t>& slots() {
  static const std::map<Slot, size_t> all = [] {
    std::map<Slot, size_t> result;
    for (const Variant variant : {Variant::kWarp, Variant::kBlock, Variant::kColumns, Variant::kReduce}) {
      for (const Expression expression : expressions_of(variant)) {
        for (const IndexType type : kIndexTypes) {
          // What a kernel's boundaries are depends on its index type, and on whether it is a scale model: a model of a
          // dispatched kernel falls back to 64 bits and keeps its own boundary.
          for (const Implementation& implementation : all_implementations()) {
            for (const Boundary boundary : boundaries_of(expression, variant, implementation, type)) {
              const bool falls_back = type == IndexType::kI64 && implementation.rule != WidthRule::kFixed;
              if (implementation.index_type != type && !falls_back) continue;
              for (const bool backward : {false, true}) {
                result.try_emplace({variant, backward, type, expression, boundary}, 0);
              }
            }
          }
        }
      }
    }
    size_t number = 0;
    for (auto& [slot, first] : result) first = kCountersPerSlot * number++;
    if (kCountersPerSlot * number > kAnyInput) throw std::logic_error("too few boundary counters");
    return result;
  }();
  return all;
}

}  // namespace

size_t distance_bucket(Exact value, Boundary boundary) {
  const Exact at = value_of(boundary);
  if (value == at) return kFarBuckets + kBelowBuckets;
  if (value > at) return kFarBuckets + kBelowBuckets + 1 + std::min(power_of_four(value - at), kAboveBuckets - 1);
  if (value < at / 2) return std::min(power_of_four(std::max<Exact>(value, 0)), kFarBuckets - 1);
  return kFarBuckets + std::min(power_of_four(at - value), kBelowBuckets - 1);
}

std::vector<size_t> distance_counters(const Case& c, const Decomposition& shape, const Dispatch& launched) {
  std::vector<size_t> result;
  const Variant variant = launched.sized.variant;
  const ExpressionValues values = largest_values(shape, launched.sized, c.dtype);
  for (const Expression expression : expressions_of(variant)) {
    for (const Boundary boundary : boundaries_of(expression, variant, c.implementation, launched.index_type)) {
      const auto value = bounded_value(values, launched.sized.launch, expression, boundary);
      if (!value) continue;
      const Slot slot{variant, !is_forward(c.operation), launched.index_type, expression, boundary};
      result.push_back(slots().at(slot) + distance_bucket(*value, boundary));
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<size_t> cell_counters(const std::vector<Cell>& cells) {
  std::vector<size_t> result;
  for (const Cell& cell : cells) {
    const Slot slot{cell.variant, cell.backward, cell.index_type, cell.expression, cell.boundary};
    const auto place = (static_cast<size_t>(cell.side) * kLocations + static_cast<size_t>(cell.location)) * kForms +
                       static_cast<size_t>(cell.launch_form);
    result.push_back(slots().at(slot) + kDistanceBuckets + place);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<size_t> counters_of(const Examination& e) {
  const auto planned = planned_launch(e.prediction);
  if (e.observed.verdict == Verdict::kNotExecuted || !planned) return {};
  std::vector<size_t> result = distance_counters(e.c, e.shape, e.execution.launched.value_or(*planned));
  const std::vector<size_t> cells = cell_counters(cells_reached(e.c, e.shape, e.execution));
  result.insert(result.end(), cells.begin(), cells.end());
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<size_t> planned_counters(const Case& c, const Prediction& prediction) {
  const auto launch = planned_launch(prediction);
  if (!launch) return {};
  const auto shape = std::get<Decomposition>(decompose(c));
  std::vector<size_t> result = distance_counters(c, shape, *launch);
  const std::vector<size_t> cells = cell_counters(cells_reached(c, shape, as_predicted(c, shape, prediction)));
  result.insert(result.end(), cells.begin(), cells.end());
  return result;
}

void set_counters(const std::vector<size_t>& counters) {
  for (const size_t counter : counters) extra_counters[counter] = 1;
}

void count_input() { set_counters({kAnyInput}); }

}  // namespace brink
