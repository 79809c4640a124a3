#include "properties/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace brink {

namespace {

constexpr size_t kBrokenKept = 20;
constexpr size_t kSeedsKept = 8;

// of | form | expression, boundary, side and locations
std::string packed(const CellList& cells, const std::string& at) {
  std::string key;
  key.reserve(cells.of.size() + cells.form.size() + at.size() + 2);
  key.append(cells.of).append("|").append(cells.form).append("|").append(at);
  return key;
}

// The matrix cells of a launch: all but the place | what follows it | places. The words are to_text(MatrixCell)'s.
std::string packed_matrix(const EvidenceRecord& r, const CellList& cells) {
  const auto rank = static_cast<int64_t>(r.shape.size());
  const int64_t axis = r.axis < 0 ? r.axis + rank : r.axis;
  __int128 numel = 1;
  int64_t inner = 1;
  for (int64_t i = 0; i < rank; ++i) {
    numel *= r.shape[static_cast<size_t>(i)];
    if (i > axis) inner = r.shape[static_cast<size_t>(i)] == 1 ? inner : 2;
  }
  const size_t index_type = cells.of.rfind(' ');
  return fmt::format("{} {} {} {}|{}{} {} {} {}|{}", std::string_view(cells.of).substr(0, index_type),
                     axis + 1 >= rank ? "last" : "non-last", inner == 1 ? "inner=1" : "inner>1",
                     numel - 1 > 0xffffffff   ? ">2^32-1"
                     : numel - 1 > 0x7fffffff ? ">2^31-1"
                                              : "<=2^31-1",
                     r.implementation, std::string_view(cells.of).substr(index_type), cells.form, r.dtype, r.memory,
                     cells.places);
}

void count(CellCounts& counts, const EvidenceRecord& r) {
  ++(r.is_finding() ? counts.findings : r.verdict == "ok" ? counts.right : counts.defects);
}

// Of several reasons why something was not executed the smallest is kept, so that no order shows.
void keep_smallest_reason(std::string& kept, const std::string& reason) {
  if (kept.empty() || (!reason.empty() && reason < kept)) kept = reason;
}

void note_plan(std::string& why, const EvidenceRecord& r) {
  if (!r.executed()) keep_smallest_reason(why, r.reason);
}

// Several packed cells may name the same cell.
std::map<std::string, std::string> reasons_by_cell(const std::unordered_map<std::string, std::string>& planned,
                                                   std::vector<std::string> (&names_in)(const std::string&)) {
  std::map<std::string, std::string> cells;
  for (const auto& [key, why] : planned) {
    for (std::string& cell : names_in(key)) keep_smallest_reason(cells[std::move(cell)], why);
  }
  return cells;
}

// Fowler, Noll and Vo's hash (FNV-1a), 64 bits.
uint64_t add_to_hash(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return (hash ^ 0xff) * 0x100000001b3u;
}

uint64_t case_hash(const EvidenceRecord& r) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::string* text : {&r.device, &r.operation, &r.dtype, &r.implementation, &r.memory}) {
    hash = add_to_hash(hash, *text);
  }
  for (const int64_t size : r.shape) hash = add_to_hash(hash, std::to_string(size));
  return add_to_hash(hash, fmt::format("{} {}", r.axis, r.case_seed));
}

void keep_smallest(std::set<uint64_t>& seeds) {
  while (seeds.size() > kSeedsKept) seeds.erase(std::prev(seeds.end()));
}

template <class Map, class Add>
void merge_maps(Map& into, const Map& from, const Add& add) {
  for (const auto& [key, value] : from) add(into[key], value);
}

void add_counts(std::map<std::string, int64_t>& into, const std::map<std::string, int64_t>& from) {
  for (const auto& [name, count] : from) into[name] += count;
}

}  // namespace

std::vector<std::string> unpacked(const std::string& packed) {
  const size_t form = packed.find('|');
  const size_t at = packed.find('|', form + 1);
  const size_t locations = packed.rfind(' ') + 1;
  std::vector<std::string> cells;
  for (size_t begin = locations; begin <= packed.size();) {
    const size_t end = std::min(packed.find(',', begin), packed.size());
    cells.push_back(fmt::format("{} {}{} {}", packed.substr(0, form), packed.substr(at + 1, locations - at - 1),
                                packed.substr(begin, end - begin), packed.substr(form + 1, at - form - 1)));
    begin = end + 1;
  }
  return cells;
}

std::vector<std::string> unpacked_matrix(const std::string& packed) {
  const size_t after = packed.find('|');
  const size_t places = packed.find('|', after + 1);
  std::vector<std::string> cells;
  for (size_t begin = places + 1; begin <= packed.size();) {
    const size_t end = std::min(packed.find(',', begin), packed.size());
    cells.push_back(fmt::format("{} {} {}", packed.substr(0, after), packed.substr(begin, end - begin),
                                packed.substr(after + 1, places - after - 1)));
    begin = end + 1;
  }
  return cells;
}

std::string without_numbers(std::string_view reason) {
  std::string text;
  bool word = false;  // inside a word such as u32, whose digits are its name
  for (const char c : reason) {
    const bool digit = c >= '0' && c <= '9';
    const bool of_number = digit || ((c == '.' || c == '+') && text.ends_with('#'));
    if (of_number && !word) {
      if (!text.ends_with('#')) text += '#';
      continue;
    }
    word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (word && digit);
    // 1.2e+09 is one number.
    if (c == 'e' && text.ends_with('#')) {
      word = false;
      continue;
    }
    text += c;
  }
  return text;
}

void Example::consider(int64_t dense_bytes, std::string_view line) {
  if (line.empty()) return;
  const bool as_small = dense_bytes_ < dense_bytes || (dense_bytes_ == dense_bytes && line_ <= line);
  if (!line_.empty() && as_small) return;
  dense_bytes_ = dense_bytes;
  line_ = line;
}

void Summary::add(const EvidenceRecord& r, std::string_view line) {
  ++examined;
  ++verdicts[r.verdict];
  ++predicted_observed.of({r.predicted_verdict, r.verdict});
  ++verdicts_of.of({r.device, r.implementation, r.operation})[r.verdict];
  RunSummary& run = runs.of({r.command, r.device, r.device_name, r.brink_version, r.role});
  ++run.count;
  run.seeds.insert(r.seed);
  keep_smallest(run.seeds);
  if (r.is_finding()) {
    ++findings_count;
    FindingSummary& finding = findings[r.cause];
    ++finding.count;
    finding.example.consider(r.dense_bytes, line);
  }
  for (const std::string& at : r.planned.at) {
    note_plan(planned[packed(r.planned, at)], r);
  }
  if (!r.planned.places.empty()) note_plan(matrix_planned[packed_matrix(r, r.planned)], r);
  if (!r.executed()) {
    const std::string reason = without_numbers(r.reason);
    NotExecutedSummary& skipped = not_executed[reason];
    ++skipped.count;
    skipped.example.consider(r.dense_bytes, line);
    if (r.required) {
      Hole& hole = holes_[case_hash(r)];
      if (hole.count++ == 0 || reason < hole.reason) hole.reason = reason;
    }
    return;
  }
  ++executed;
  if (r.required) executed_cases_.insert(case_hash(r));
  if (!r.launched()) return;
  ++launched;
  if (!r.is_finding() && r.verdict != "ok") ++defects;
  for (const std::string& at : r.reached.at) {
    count(reached[packed(r.reached, at)], r);
  }
  if (!r.reached.places.empty()) count(matrix_reached[packed_matrix(r, r.reached)], r);
  const std::string_view form = !r.reached.form.empty()          ? std::string_view(r.reached.form)
                                : r.verdict == "launch_rejected" ? "rejected"
                                                                 : "-";
  const auto or_dash = [](const std::string& text) { return text.empty() ? std::string_view("-") : text; };
  LaunchSummary& launch = launches.of({r.device, r.path, or_dash(r.variant), or_dash(r.index_type), form,
                                       r.said_by.empty() ? std::string_view("nobody") : r.said_by});
  ++launch.count;
  if (r.grid.size() == 2 && r.block.size() == 2) {
    for (size_t i = 0; i < 2; ++i) launch.largest_grid[i] = std::max(launch.largest_grid[i], r.grid[i]);
    launch.blocks.insert({r.block[0], r.block[1]});
  }
  MemorySummary& held = memory.of({r.device, r.memory});
  ++held.count;
  held.largest_dense = std::max(held.largest_dense, r.dense_bytes);
  held.largest_held = std::max(held.largest_held, r.held_bytes);
  SpeedSummary& times = speed.of({r.device, r.memory});
  ++times.count;
  for (size_t i = 0; i < times.microseconds.size(); ++i) times.microseconds[i] += r.microseconds[i];
}

void Summary::add_broken(const std::string& message) {
  ++broken;
  if (broken_lines.size() < kBrokenKept) broken_lines.push_back(message);
}

void Summary::merge(const Summary& other) {
  examined += other.examined;
  executed += other.executed;
  launched += other.launched;
  findings_count += other.findings_count;
  defects += other.defects;
  torn += other.torn;
  broken += other.broken;
  broken_lines.insert(broken_lines.end(), other.broken_lines.begin(), other.broken_lines.end());
  add_counts(verdicts, other.verdicts);
  merge_maps(findings, other.findings, [](FindingSummary& into, const FindingSummary& from) {
    into.count += from.count;
    into.example.merge(from.example);
  });
  merge_maps(not_executed, other.not_executed, [](NotExecutedSummary& into, const NotExecutedSummary& from) {
    into.count += from.count;
    into.required += from.required;
    into.example.merge(from.example);
  });
  merge_maps(predicted_observed, other.predicted_observed, [](int64_t& into, int64_t from) { into += from; });
  merge_maps(verdicts_of, other.verdicts_of, add_counts);
  merge_maps(launches, other.launches, [](LaunchSummary& into, const LaunchSummary& from) {
    into.count += from.count;
    for (size_t i = 0; i < 2; ++i) into.largest_grid[i] = std::max(into.largest_grid[i], from.largest_grid[i]);
    into.blocks.insert(from.blocks.begin(), from.blocks.end());
  });
  merge_maps(memory, other.memory, [](MemorySummary& into, const MemorySummary& from) {
    into.count += from.count;
    into.largest_dense = std::max(into.largest_dense, from.largest_dense);
    into.largest_held = std::max(into.largest_held, from.largest_held);
  });
  merge_maps(speed, other.speed, [](SpeedSummary& into, const SpeedSummary& from) {
    into.count += from.count;
    for (size_t i = 0; i < into.microseconds.size(); ++i) into.microseconds[i] += from.microseconds[i];
  });
  merge_maps(runs, other.runs, [](RunSummary& into, const RunSummary& from) {
    into.count += from.count;
    into.seeds.insert(from.seeds.begin(), from.seeds.end());
    keep_smallest(into.seeds);
  });
  const auto add_cells = [](CellCounts& into, const CellCounts& from) { into.add(from); };
  merge_maps(reached, other.reached, add_cells);
  merge_maps(matrix_reached, other.matrix_reached, add_cells);
  merge_maps(planned, other.planned, keep_smallest_reason);
  merge_maps(matrix_planned, other.matrix_planned, keep_smallest_reason);
  executed_cases_.insert(other.executed_cases_.begin(), other.executed_cases_.end());
  merge_maps(holes_, other.holes_, [](Hole& into, const Hole& from) {
    if (into.count == 0 || from.reason < into.reason) into.reason = from.reason;
    into.count += from.count;
  });
}

void Summary::finish() {
  std::sort(broken_lines.begin(), broken_lines.end());
  if (broken_lines.size() > kBrokenKept) broken_lines.resize(kBrokenKept);
  for (auto& [reason, skipped] : not_executed) skipped.required = 0;
  for (const auto& [hash, hole] : holes_) {
    if (executed_cases_.count(hash) == 0) ++not_executed[hole.reason].required;
  }
}

std::map<std::string, std::string> Summary::missing_cells() const {
  std::map<std::string, std::string> missing = reasons_by_cell(planned, unpacked);
  for (const auto& [key, counts] : reached) {
    for (const std::string& cell : unpacked(key)) missing.erase(cell);
  }
  return missing;
}

std::map<std::string, std::string> Summary::planned_matrix() const {
  return reasons_by_cell(matrix_planned, unpacked_matrix);
}

int64_t Summary::required_not_executed() const {
  int64_t count = 0;
  for (const auto& [reason, skipped] : not_executed) count += skipped.required;
  return count;
}

int Summary::exit_status() const {
  if (broken > 0) return 2;
  if (!findings.empty()) return 1;
  return launched > 0 && required_not_executed() == 0 && missing_cells().empty() ? 0 : 3;
}

}  // namespace brink
