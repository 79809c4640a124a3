#include "tools/brink/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace brink {

namespace {

std::string range_text(std::string_view name, const Interval& i) {
  return i.first == i.last ? fmt::format("{} {}", name, i.first) : fmt::format("{} {}..{}", name, i.first, i.last);
}

std::string boxes_text(const std::vector<Box>& boxes) {
  if (boxes.empty()) return "none";
  constexpr size_t kShown = 3;
  const int64_t count = count_elements(boxes);
  std::string text = fmt::format("{} element{}", count, count == 1 ? "" : "s");
  for (size_t i = 0; i < std::min(kShown, boxes.size()); ++i) {
    text += fmt::format("{}{} {} {}", i == 0 ? ": " : "; ", range_text("outer", boxes[i].outer),
                        range_text("dim", boxes[i].dim), range_text("inner", boxes[i].inner));
  }
  if (boxes.size() > kShown) text += fmt::format("; and {} more boxes", boxes.size() - kShown);
  return text;
}

std::string intervals_text(const std::vector<Interval>& intervals) {
  if (intervals.empty()) return "none";
  std::string text = fmt::format("addresses [{}, {}]", intervals[0].first, intervals[0].last);
  if (intervals.size() > 1) text += fmt::format(" and {} more ranges", intervals.size() - 1);
  return text;
}

std::string launch_text(const Outcome& o) {
  if (!o.launch) return "none";
  const std::string form = o.launch_form == LaunchForm::kResident ? "" : fmt::format(" {}", name_of(o.launch_form));
  return fmt::format("grid ({}, {}) block ({}, {}){}", o.launch->grid_x, o.launch->grid_y, o.launch->block_x,
                     o.launch->block_y, form);
}

std::string path_text(const Outcome& o) {
  return o.variant ? fmt::format("{} ({})", name_of(o.path), name_of(*o.variant)) : std::string(name_of(o.path));
}

std::string overflow_text(const Outcome& o) {
  if (!o.first_overflow) return "none";
  const FirstOverflow& f = *o.first_overflow;
  std::string text =
      fmt::format("{}: {} becomes {}", name_of(f.overflow.expression), to_string(f.overflow.exact), f.overflow.wrapped);
  if (f.where) text += fmt::format(" at outer {} dim {} inner {}", f.where->outer, f.where->dim, f.where->inner);
  return text;
}

using Rows = std::vector<std::array<std::string, 2>>;

Rows rows_of(const Outcome& o) {
  Rows rows = {{"verdict", std::string(name_of(o.verdict))}};
  if (!o.reason.empty()) rows.push_back({"reason", o.reason});
  rows.push_back({"path", path_text(o)});
  rows.push_back({"index type", o.index_type ? std::string(name_of(*o.index_type)) : "none"});
  rows.push_back({"launch", launch_text(o)});
  rows.push_back({"wrong", boxes_text(o.wrong)});
  rows.push_back({"never written", boxes_text(o.never_written)});
  rows.push_back({"contended", boxes_text(o.contended)});
  rows.push_back({"out of bounds", intervals_text(o.out_of_bounds)});
  return rows;
}

std::string shape_text(const Case& c) { return fmt::format("[{}]", fmt::join(c.shape, ", ")); }

std::string header(const Case& c, const Decomposition& s) {
  return fmt::format("{}\n  outer {} x dim {} x inner {}, {} per tensor, closed form {} (mod {})\n", describe(c),
                     s.outer_size, s.dim_size, s.inner_size,
                     bytes_text(static_cast<double>(s.numel()) * static_cast<double>(size_of(c.dtype))),
                     name_of(c.family), c.prime);
}

}  // namespace

std::string bytes_text(double bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string describe(const Case& c) {
  return fmt::format("{} {} axis {} {} {} {}", name_of(c.operation), shape_text(c), c.axis, name_of(c.dtype),
                     c.implementation.name(), name_of(c.memory));
}

std::string describe(const Case& c, const Decomposition& shape, const Prediction& prediction) {
  std::string text = header(c, shape);
  for (const auto& [name, value] : rows_of(prediction)) text += fmt::format("  {:<15}{}\n", name, value);
  text += fmt::format("  {:<15}{}\n", "first overflow", overflow_text(prediction));
  if (!prediction.exact)
    text += "  the element sets are a superset: a wrapped loop counter or equal values blur them\n";
  return text;
}

std::string describe(const Examination& e) {
  std::string text = header(e.c, e.shape);
  const Rows predicted = rows_of(e.prediction);
  const Rows observed = rows_of(e.observed);
  text += fmt::format("  {:<15}predicted / observed\n", "");
  const auto value = [](const Rows& rows, const std::string& name) {
    for (const auto& row : rows) {
      if (row[0] == name) return row[1];
    }
    return std::string("-");
  };
  for (const char* name :
       {"verdict", "reason", "path", "index type", "launch", "wrong", "never written", "contended", "out of bounds"}) {
    const std::string p = value(predicted, name);
    const std::string o = value(observed, name);
    if (p == "-" && o == "-") continue;
    if (p == o) {
      text += fmt::format("  {:<15}{}\n", name, p);
    } else {
      text += fmt::format("  {:<15}{}\n  {:<15}{}\n", name, p, "", o);
    }
  }
  text += fmt::format("  {:<15}{}\n", "first overflow", overflow_text(e.prediction));
  const RawObservation& raw = e.execution.raw;
  int64_t seen = 0;
  for (const Interval& i : raw.looked_at) seen += i.last - i.first + 1;
  if (raw.ending == Ending::kCompleted) {
    text += fmt::format(
        "  looked at {} elements in {} places; kernel {:.2f} ms{}\n", seen, raw.looked_at.size(), raw.kernel_ms,
        raw.physical_bytes > 0
            ? fmt::format("; {} of memory for the tensors", bytes_text(static_cast<double>(raw.physical_bytes)))
            : "");
  }
  if (e.observed.verdict != Verdict::kNotExecuted) {
    text += e.differences.empty() ? "  prediction and observation agree\n" : "  prediction and observation DIFFER:\n";
    for (const std::string& line : e.differences) text += fmt::format("    {}\n", line);
  }
  return text;
}

nlohmann::ordered_json to_json(const Examination& e, Role role) {
  nlohmann::ordered_json j;
  j["case"] = nlohmann::ordered_json::parse(to_text(e.c));
  j["prediction"] = to_json(static_cast<const Outcome&>(e.prediction));
  j["observation"] = to_json(e.observed);
  auto looked_at = nlohmann::ordered_json::array();
  for (const Interval& i : e.execution.raw.looked_at) looked_at.push_back({i.first, i.last});
  j["looked_at"] = std::move(looked_at);
  j["kernel_ms"] = e.execution.raw.kernel_ms;
  j["prepare_ms"] = e.execution.raw.prepare_ms;
  j["compare_ms"] = e.execution.raw.compare_ms;
  j["physical_bytes"] = e.execution.raw.physical_bytes;
  j["agree"] = e.observed.verdict != Verdict::kNotExecuted && e.differences.empty();
  j["differences"] = e.differences;
  j["findings"] = findings(e, role);
  return j;
}

}  // namespace brink
