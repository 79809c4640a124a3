#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <set>

#include "properties/audit.h"
#include "properties/best_prime.h"
#include "properties/generator.h"
#include "properties/memory_needed.h"
#include "properties/windows.h"
#include "tools/brink/commands.h"
#include "tools/brink/options.h"
#include "tools/brink/text.h"

namespace brink {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kAuditFileMax = size_t{16} << 20;

// What happens to a test on a device that lacks the memory for it, or on the audited one.
std::string memory_text(const AuditedRow& row) {
  const AuditedTest& test = row.test;
  const std::string needs = row.needs_bytes == 0 ? "memory" : bytes_text(static_cast<double>(row.needs_bytes));
  std::string without = test.without == WithoutMemory::kSkips
                            ? fmt::format("without {} it is skipped, which is no pass", needs)
                        : test.without == WithoutMemory::kPasses
                            ? fmt::format("without {} it counts as success and has tested nothing", needs)
                        : row.needs_bytes == 0 ? "needs none for arrays of that size"
                                               : fmt::format("needs {}", needs);
  if (row.runs) return without;
  return (test.without == WithoutMemory::kSkips    ? "SKIPPED on this device, reaches nothing: "
          : test.without == WithoutMemory::kPasses ? "PASSES WITHOUT RUNNING on this device, reaches nothing: "
                                                   : "DOES NOT FIT this device, reaches nothing: ") +
         without;
}

std::string where_text(const AuditedRow& row) {
  if (row.numel == 0) return "an empty tensor: nothing is launched";
  if (!row.launched)
    return row.test.known ? "another path: this implementation does not take it" : "no path of brink's";
  const Decomposition& s = *row.shape;
  return fmt::format("{}/{}, outer {} x dim {} x inner {}, offsets in {}", name_of(row.launched->sized.path),
                     name_of(row.launched->sized.variant), s.outer_size, s.dim_size, s.inner_size,
                     name_of(row.launched->index_type));
}

std::string offsets_text(const AuditedRow& row) {
  std::string text = fmt::format("{} elements, {}", row.numel, name_of(row.elements));
  text += row.bytes ? fmt::format("; in bytes {}", name_of(*row.bytes)) : "; no array in memory";
  return text + fmt::format("; the narrowest type for it is {}", name_of(row.narrowest));
}

std::string places_text(const AuditedRow& row) {
  std::vector<std::string_view> places;
  for (const MatrixCell& cell : row.matrix) places.push_back(name_of(cell.place));
  return fmt::format("{}", fmt::join(places, ", "));
}

// The tests of the file in its order, each with all of its rows.
std::vector<std::pair<std::string, std::vector<const AuditedRow*>>> by_name(const Audit& audit) {
  std::vector<std::pair<std::string, std::vector<const AuditedRow*>>> groups;
  for (const AuditedRow& row : audit.rows) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == row.test.name; });
    if (found == groups.end()) found = groups.insert(groups.end(), {row.test.name, {}});
    found->second.push_back(&row);
  }
  return groups;
}

void print_row(const AuditedRow& row) {
  const AuditedTest& test = row.test;
  fmt::print("  {} [{}]{} {}\n", test.operation, fmt::join(test.shape, ", "),
             test.known ? fmt::format(" axis {}", test.axis) : "", test.dtype);
  fmt::print("    path      {}\n    offsets   {}\n", where_text(row), offsets_text(row));
  if (row.launched) {
    fmt::print("    looks at  {}{}\n", row.matrix.empty() ? "nothing" : places_text(row),
               test.says_compared ? "" : " (the file does not say: counted as if at everything)");
    fmt::print("    cells     {} of single expressions at their boundaries\n", row.cells.size());
  }
  fmt::print("    memory    {}\n", memory_text(row));
  for (const std::string& line : row.weaknesses) fmt::print("    WEAK      {}\n", line);
}

std::string hole_text(const AuditHole& hole) {
  std::string text = fmt::format("{}/{} {} {}", name_of(path_of(std::get<Decomposition>(decompose(hole.closes)))),
                                 name_of(hole.variant), hole.backward ? "backward" : "forward", name_of(hole.range));
  if (!hole.reached) return text + ": never reached";
  std::vector<std::string_view> places;
  for (const Place place : hole.places) places.push_back(name_of(place));
  return text + fmt::format(": never looked at: {}", fmt::join(places, ", "));
}

// The fewest items of this size whose last byte lies in the range.
int64_t items_in(OffsetRange range, int64_t item_bytes) {
  const int64_t boundary = range == OffsetRange::kUnsigned ? limits_of(IndexType::kI32).max
                           : range == OffsetRange::kAbove  ? limits_of(IndexType::kU32).max
                                                           : -1;
  return (boundary + 1) / item_bytes + 1;
}

struct Proposal {
  std::string command;
  int64_t sparse_bytes = 0;
  int64_t dense_bytes = 0;
};

Proposal proposal_of(const AuditHole& hole) {
  Case c = hole.closes;
  choose_prime(c);
  const auto shape = std::get<Decomposition>(decompose(c));
  const auto occupancy = model_of(Device::kHost, c.implementation);
  Proposal proposal;
  c.memory = MemoryKind::kSparse;
  proposal.sparse_bytes =
      memory_needed(c, shape, choose_windows(c, shape, predict(c, *occupancy, Engine::kSymbolic)), Device::kHost);
  c.memory = MemoryKind::kDense;
  proposal.dense_bytes = memory_needed(c, shape, {}, Device::kHost);
  proposal.command = fmt::format("brink run --op {} --shape {} --axis {} --impl {}", name_of(c.operation),
                                 fmt::join(c.shape, ","), c.axis, c.implementation.name());
  return proposal;
}

// Of each operation that is not brink's: ranges that none of its tests comes to, and how many items do.
std::vector<std::string> foreign_holes(const Audit& audit) {
  struct Ranges {
    std::set<OffsetRange> elements;
    std::set<OffsetRange> bytes;
    std::set<int64_t> item_bytes;
  };
  std::vector<std::pair<std::string, Ranges>> operations;
  for (const AuditedRow& row : audit.rows) {
    if (row.test.known) continue;
    auto found = std::find_if(operations.begin(), operations.end(),
                              [&](const auto& operation) { return operation.first == row.test.operation; });
    if (found == operations.end()) found = operations.insert(operations.end(), {row.test.operation, {}});
    if (row.bytes) found->second.item_bytes.insert(row.test.item_bytes);
    if (!row.runs) continue;
    found->second.elements.insert(row.elements);
    if (row.bytes) found->second.bytes.insert(*row.bytes);
  }
  std::vector<std::string> lines;
  for (const auto& [operation, ranges] : operations) {
    for (const OffsetRange range : kOffsetRanges) {
      if (ranges.elements.contains(range)) continue;
      lines.push_back(fmt::format("{}: elements {} (from {} items on)", operation, name_of(range), items_in(range, 1)));
    }
    if (ranges.item_bytes.empty()) {
      lines.push_back(fmt::format("{}: any array in memory, so no offset in bytes", operation));
      continue;
    }
    const int64_t item = *ranges.item_bytes.begin();
    for (const OffsetRange range : kOffsetRanges) {
      if (ranges.bytes.contains(range)) continue;
      lines.push_back(fmt::format("{}: bytes {} (from {} items of {} B on)", operation, name_of(range),
                                  items_in(range, item), item));
    }
  }
  return lines;
}

void print_audit(const Audit& audit, const AuditOptions& options) {
  fmt::print("{}: {} rows, as {} would take them{}\n", audit.suite.empty() ? "audit" : audit.suite, audit.rows.size(),
             options.implementation.name(),
             options.device_memory
                 ? fmt::format(", on a device of {}", bytes_text(static_cast<double>(*options.device_memory)))
                 : "");
  int64_t weak = 0;
  int64_t passes = 0;
  int64_t idle = 0;
  for (const auto& [name, rows] : by_name(audit)) {
    fmt::print("\n{}: {}\n", name, summary_of(rows));
    for (const AuditedRow* row : rows) {
      print_row(*row);
      weak += row->weaknesses.empty() ? 0 : 1;
      passes += row->test.without == WithoutMemory::kPasses ? 1 : 0;
      idle += row->runs ? 0 : 1;
    }
  }
  fmt::print("\nThe suite\n");
  if (options.device_memory) fmt::print("  {} of {} rows do not run on this device\n", idle, audit.rows.size());
  if (passes > 0) fmt::print("  {} rows count a lack of memory as success\n", passes);
  if (weak > 0) fmt::print("  {} rows have checks that a wrong result can pass\n", weak);
  for (const std::string& line : foreign_holes(audit)) fmt::print("  never reached: {}\n", line);
  for (const AuditHole& hole : audit.holes) {
    const Proposal proposal = proposal_of(hole);
    fmt::print("  {}\n    {}    ({} of memory; dense {})\n", hole_text(hole), proposal.command,
               bytes_text(static_cast<double>(proposal.sparse_bytes)),
               bytes_text(static_cast<double>(proposal.dense_bytes)));
  }
}

Json to_json(const AuditedRow& row) {
  Json j;
  j["name"] = row.test.name;
  j["operation"] = row.test.operation;
  j["shape"] = row.test.shape;
  j["axis"] = row.test.axis;
  j["dtype"] = row.test.dtype;
  j["elements"] = row.numel;
  j["element_offsets"] = name_of(row.elements);
  j["byte_offsets"] = row.bytes ? Json(name_of(*row.bytes)) : Json(nullptr);
  j["narrowest"] = name_of(row.narrowest);
  if (row.launched) {
    j["path"] = name_of(row.launched->sized.path);
    j["variant"] = name_of(row.launched->sized.variant);
    j["index_type"] = name_of(row.launched->index_type);
    j["decomposition"] = {row.shape->outer_size, row.shape->dim_size, row.shape->inner_size};
  }
  j["looked_at"] = Json::array();
  for (const MatrixCell& cell : row.matrix) j["looked_at"].push_back(name_of(cell.place));
  j["cells"] = Json::array();
  for (const Cell& cell : row.cells) j["cells"].push_back(to_text(cell));
  j["memory"] = row.needs_bytes;
  j["without_memory"] = row.test.without == WithoutMemory::kSkips    ? "skipped"
                        : row.test.without == WithoutMemory::kPasses ? "passes"
                                                                     : "fails";
  j["runs"] = row.runs;
  j["weaknesses"] = row.weaknesses;
  return j;
}

Json to_json(const Audit& audit) {
  Json j;
  j["suite"] = audit.suite;
  j["tests"] = Json::array();
  for (const auto& [name, rows] : by_name(audit)) {
    Json test = {{"name", name}, {"summary", summary_of(rows)}, {"rows", Json::array()}};
    for (const AuditedRow* row : rows) test["rows"].push_back(to_json(*row));
    j["tests"].push_back(std::move(test));
  }
  j["never_reached"] = foreign_holes(audit);
  j["holes"] = Json::array();
  for (const AuditHole& hole : audit.holes) {
    const Proposal proposal = proposal_of(hole);
    j["holes"].push_back({{"hole", hole_text(hole)},
                          {"closes", proposal.command},
                          {"memory", proposal.sparse_bytes},
                          {"dense_memory", proposal.dense_bytes}});
  }
  return j;
}

}  // namespace

void add_audit(CLI::App& app, int& /*status*/) {
  struct Options {
    std::string file;
    std::string implementation = "dispatched";
    std::string device_memory;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("audit", "say what the shapes of existing tests reach, and what they never do; runs nothing");
  command->add_option("file", options->file, "JSON or CSV; see corpus/audits/ for examples")->required();
  command->add_option("--impl", options->implementation, "whose paths and cells count");
  command->add_option(
      "--device-memory", options->device_memory,
      "memory of the device that the tests run on, such as 40GiB: what does not run there reaches nothing");
  command->add_flag("--json", options->json, "JSON on standard output");
  command->callback([options] {
    AuditOptions audit_options;
    audit_options.implementation = implementation_option(options->implementation);
    if (!options->device_memory.empty()) {
      audit_options.device_memory = bytes_option("--device-memory", options->device_memory);
    }
    const auto parsed = parse_audit(read_input(options->file, kAuditFileMax));
    if (const auto* error = std::get_if<std::string>(&parsed)) {
      throw UsageError{fmt::format("{}: {}", options->file, *error)};
    }
    const Audit result = audit(std::get<AuditFile>(parsed), audit_options);
    if (options->json) {
      fmt::print("{}\n", to_json(result).dump(2, ' ', false, Json::error_handler_t::replace));
    } else {
      print_audit(result, audit_options);
    }
  });
}

}  // namespace brink
