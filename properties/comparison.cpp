#include "properties/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "properties/column_value.h"
#include "properties/input_windows.h"
#include "properties/windows.h"

namespace brink {

namespace {

// Bounds on the work of telling whose value a contended element holds; what is beyond them is not compared.
constexpr int kMaxWriters = 64;
constexpr int64_t kMaxColumn = 1 << 12;

bool covers(const std::vector<Interval>& intervals, int64_t n) {
  const auto after = std::upper_bound(intervals.begin(), intervals.end(), n,
                                      [](int64_t value, const Interval& i) { return value < i.first; });
  return after != intervals.begin() && std::prev(after)->last >= n;
}

// The part of `range` that is in none of `parts` of it, which are sorted and disjoint.
std::vector<Interval> outside_of(const std::vector<Interval>& parts, const Interval& range) {
  std::vector<Interval> result;
  int64_t first = range.first;
  for (const Interval& part : parts) {
    if (first < part.first) result.push_back({first, part.first - 1});
    first = part.last + 1;
  }
  if (first <= range.last) result.push_back({first, range.last});
  return result;
}

Launching launching_of(const Case& c, const Decomposition& shape, const Dispatch& dispatch) {
  return {shape, c.operation, c.dtype, closed_form_of(c, shape), c.memory, dispatch};
}

std::vector<uint64_t> values_of_writers(WriterValues& writers, const Prediction& prediction, int64_t n) {
  if (const auto known = prediction.contended_values.find(n); known != prediction.contended_values.end()) {
    return known->second;
  }
  return writers.of(n);
}

// A column that lost its maximum sums exponentials, whose rounding depends on the order of the sum and on the library.
// Such a value was never the right one; it only has to be recognised.
bool recognised(const ClosedForm& form, uint64_t value, uint64_t bits) {
  if (!is_forward(form.operation) || form.uses_levels()) return false;
  const double a = value_of_bits(form.dtype, value);
  const double b = value_of_bits(form.dtype, bits);
  const double tolerance = form.dtype == DType::kF64 ? 0x1p-46 : form.dtype == DType::kF32 ? 0x1p-18 : 0x1p-6;
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

bool held_by_a_writer(const ClosedForm& form, int64_t n, const std::vector<uint64_t>& values, uint64_t bits) {
  const uint64_t right = expected_bits(form, n);
  return std::any_of(values.begin(), values.end(), [&](uint64_t value) {
    if (value == bits || same_value(form.dtype, value, bits)) return true;
    const bool both_nan = !same_value(form.dtype, value, value) && !same_value(form.dtype, bits, bits);
    return both_nan || (!same_value(form.dtype, value, right) && recognised(form, value, bits));
  });
}

std::string describe(const std::vector<Interval>& intervals) {
  if (intervals.empty()) return "none";
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(4, intervals.size()); ++i) {
    text += fmt::format("{}[{}, {}]", i == 0 ? "" : " ", intervals[i].first, intervals[i].last);
  }
  if (intervals.size() > 4) text += fmt::format(" and {} more", intervals.size() - 4);
  return text;
}

std::string launch_text(const Outcome& outcome) {
  const Launch& l = *outcome.launch;
  return fmt::format("grid ({}, {}) block ({}, {}) {}", l.grid_x, l.grid_y, l.block_x, l.block_y,
                     name_of(outcome.launch_form));
}

// Where the sets of prediction and observation are compared: everywhere that was looked at, or, where a set falls into
// millions of pieces, in the case's windows.
std::vector<Interval> places_to_compare(const Case& c, const Decomposition& shape, const Prediction& prediction,
                                        const RawObservation& raw) {
  constexpr int64_t kPieces = 1 << 20;
  int64_t pieces = 0;
  for (const auto* boxes : {&prediction.wrong, &prediction.never_written, &prediction.contended}) {
    pieces += interval_count(shape, *boxes);
  }
  return pieces <= kPieces ? raw.looked_at : choose_windows(c, shape, prediction);
}

std::vector<Interval> seen_part(const Decomposition& shape, const std::vector<Box>& boxes,
                                const std::vector<Interval>& places) {
  std::vector<Interval> result;
  if (boxes.empty()) return result;
  for (const Interval& window : places) {
    for (const Interval& part : intersect(shape, boxes, window)) result.push_back(part);
  }
  return normalized(std::move(result));
}

// Addresses outside the tensor are known completely only where every block ran.
bool numel_is_whole(const RawObservation& raw, const Decomposition& shape) {
  return raw.looked_at == std::vector<Interval>{{0, shape.numel() - 1}};
}

Verdict verdict_of_ending(Ending ending) {
  switch (ending) {
    case Ending::kHang:
      return Verdict::kHang;
    case Ending::kFault:
      return Verdict::kFault;
    case Ending::kLaunchRejected:
      return Verdict::kLaunchRejected;
    case Ending::kOutOfMemory:
      return Verdict::kOutOfMemory;
    default:
      return Verdict::kNotExecuted;
  }
}

}  // namespace

Outcome outcome_of(const Case& c, const Decomposition& shape, const Prediction& prediction,
                   const Execution& execution) {
  const RawObservation& raw = execution.raw;
  Outcome outcome;
  outcome.path = path_of(shape);
  outcome.reason = raw.reason;
  if (const auto reached = execution.reached()) {
    outcome.path = reached->sized.path;
    outcome.variant = reached->sized.variant;
    outcome.index_type = reached->index_type;
    outcome.launch = reached->sized.launch;
    outcome.launch_form = reached->sized.form;
  }
  if (raw.ending != Ending::kCompleted) {
    outcome.verdict = verdict_of_ending(raw.ending);
    return outcome;
  }
  std::vector<Interval> wrong = raw.wrong;
  std::vector<Interval> contended;
  if (raw.written_twice) {
    contended = *raw.written_twice;
  } else if (execution.launched && !prediction.contended.empty()) {
    const Launching launching = launching_of(c, shape, *execution.launched);
    // Only a GPU's memory does not count writes.
    const InputValue input =
        c.memory == MemoryKind::kAliased
            ? aliased_input(launching.form, input_windows(launching.form, choose_windows(c, shape, prediction)))
            : InputValue();
    WriterValues writers(launching, kMaxWriters, kMaxColumn, input);
    std::vector<Interval> still_wrong;
    for (const Interval& i : raw.wrong) {
      for (int64_t n = i.first; n <= i.last; ++n) {
        const auto value = std::lower_bound(raw.values.begin(), raw.values.end(), n,
                                            [](const FoundValue& v, int64_t element) { return v.element < element; });
        if (value == raw.values.end() || value->element != n) {
          // Beyond the values kept, the place alone says whether a writer may have left it.
          const Interval rest = {n, i.last};
          const std::vector<Interval> by_place = intersect(shape, prediction.contended, rest);
          contended.insert(contended.end(), by_place.begin(), by_place.end());
          for (const Interval& other : outside_of(by_place, rest)) still_wrong.push_back(other);
          break;
        }
        const bool may_be = contains(prediction.contended, position_of(shape, n));
        const auto values = may_be ? values_of_writers(writers, prediction, n) : std::vector<uint64_t>();
        // Writers whose columns are too long to work out may have left anything but the right value.
        const bool by_writer = may_be && (values.empty() || held_by_a_writer(launching.form, n, values, value->bits));
        (by_writer ? contended : still_wrong).push_back({n, n});
      }
    }
    wrong = normalized(std::move(still_wrong));
    // A contended element that holds the right value looks like any other: one of its writers is right.
    for (const Interval& part : seen_part(shape, prediction.contended, places_to_compare(c, shape, prediction, raw))) {
      for (int64_t n = part.first; n <= part.last; ++n) {
        if (!covers(wrong, n) && !covers(raw.unwritten, n)) contended.push_back({n, n});
      }
    }
    contended = normalized(std::move(contended));
  }
  outcome.wrong = boxes_of(shape, wrong);
  outcome.never_written = boxes_of(shape, raw.unwritten);
  outcome.contended = boxes_of(shape, contended);
  outcome.out_of_bounds = raw.out_of_bounds;
  outcome.exact = raw.complete;
  outcome.verdict = verdict_of_sets(outcome);
  if (!raw.out_of_bounds.empty() || raw.wild_writes) outcome.verdict = Verdict::kOutOfBounds;
  return outcome;
}

std::vector<std::string> differences(const Case& c, const Decomposition& shape, const Prediction& prediction,
                                     const Execution& execution, const Outcome& observed) {
  std::vector<std::string> lines;
  const auto differ = [&](std::string_view what, std::string_view predicted, std::string_view found) {
    if (predicted != found) lines.push_back(fmt::format("{}: predicted {}, observed {}", what, predicted, found));
  };
  if (observed.verdict == Verdict::kNotExecuted) return lines;
  // Two writes of one value leave no trace where the memory does not count them.
  const bool traceless = !prediction.exact && !execution.raw.written_twice &&
                         prediction.verdict == Verdict::kMismatch &&
                         (observed.verdict == Verdict::kOk || observed.verdict == Verdict::kUnwritten);
  if (!traceless) differ("verdict", name_of(prediction.verdict), name_of(observed.verdict));
  differ("path", name_of(prediction.path), name_of(observed.path));
  if (observed.variant && prediction.variant)
    differ("variant", name_of(*prediction.variant), name_of(*observed.variant));
  if (observed.index_type && prediction.index_type) {
    differ("index type", name_of(*prediction.index_type), name_of(*observed.index_type));
  }
  if (observed.launch && prediction.launch) {
    differ("launch", launch_text(prediction), launch_text(observed));
  }
  const RawObservation& raw = execution.raw;
  if (const auto kernel = kernel_of(raw.stamp)) {
    if (kernel->operation != c.operation || kernel->dtype != c.dtype) {
      lines.push_back(fmt::format("kernel: {} {} was asked for, {} {} ran", name_of(c.operation), name_of(c.dtype),
                                  name_of(kernel->operation), name_of(kernel->dtype)));
    }
    const Dispatch ran = *execution.reached();
    if (execution.launched && execution.launched->sized.launch != ran.sized.launch) {
      lines.push_back("launch: the kernel saw another grid or block than the launching side");
    }
  }
  if (raw.ending != Ending::kCompleted || !lines.empty()) return lines;

  const std::vector<Interval> places = places_to_compare(c, shape, prediction, raw);
  const auto predicted_wrong = seen_part(shape, prediction.wrong, places);
  const auto predicted_never = seen_part(shape, prediction.never_written, places);
  const auto predicted_contended = seen_part(shape, prediction.contended, places);
  if (!prediction.exact) {
    std::vector<Interval> superset = predicted_wrong;
    superset.insert(superset.end(), predicted_never.begin(), predicted_never.end());
    superset.insert(superset.end(), predicted_contended.begin(), predicted_contended.end());
    superset = normalized(std::move(superset));
    for (const auto* boxes : {&observed.wrong, &observed.never_written, &observed.contended}) {
      for (const Interval& part : seen_part(shape, *boxes, places)) {
        for (int64_t n = part.first; n <= part.last; ++n) {
          if (covers(superset, n)) continue;
          lines.push_back(fmt::format("element {} is bad and was not predicted to be", n));
          return lines;
        }
      }
    }
    for (const Interval& part : raw.out_of_bounds) {
      if (covers(prediction.out_of_bounds, part.first) && covers(prediction.out_of_bounds, part.last)) continue;
      differ("out of bounds", describe(prediction.out_of_bounds), describe(raw.out_of_bounds));
      break;
    }
    return lines;
  }
  const auto compare = [&](std::string_view what, const std::vector<Interval>& predicted,
                           const std::vector<Box>& boxes) {
    const auto found = seen_part(shape, boxes, places);
    if (predicted != found) differ(what, describe(predicted), describe(found));
  };
  compare("wrong elements", predicted_wrong, observed.wrong);
  compare("elements never written", predicted_never, observed.never_written);
  compare("contended elements", predicted_contended, observed.contended);
  if (raw.written_twice && numel_is_whole(raw, shape) && prediction.out_of_bounds != raw.out_of_bounds) {
    differ("out of bounds", describe(prediction.out_of_bounds), describe(raw.out_of_bounds));
  }
  if (raw.written_twice && execution.launched) {
    const Launching launching = launching_of(c, shape, *execution.launched);
    WriterValues writers(launching, kMaxWriters, kMaxColumn);
    for (const FoundValue& value : raw.values) {
      if (!covers(predicted_contended, value.element)) continue;
      const auto values = values_of_writers(writers, prediction, value.element);
      if (!values.empty() && !held_by_a_writer(launching.form, value.element, values, value.bits)) {
        lines.push_back(fmt::format("contended element {} holds the value of none of its writers", value.element));
        break;
      }
    }
  }
  return lines;
}

}  // namespace brink
