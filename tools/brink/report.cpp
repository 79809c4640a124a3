#include "tools/brink/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace brink {

std::string_view symbol_of(Coverage state) {
  switch (state) {
    case Coverage::kFinding:
      return "\u2717";
    case Coverage::kNotExecuted:
      return "!";
    case Coverage::kDefect:
      return "\u25c6";
    case Coverage::kRight:
      return "\u2713";
    case Coverage::kNever:
      return "\u25cb";
    case Coverage::kUnreachable:
      break;
  }
  return "\u00b7";
}

std::string_view words_for(Coverage state) {
  switch (state) {
    case Coverage::kFinding:
      return "reached and failed";
    case Coverage::kNotExecuted:
      return "required but not executed";
    case Coverage::kDefect:
      return "known defect, failed as predicted";
    case Coverage::kRight:
      return "reached and right";
    case Coverage::kNever:
      return "never reached";
    case Coverage::kUnreachable:
      break;
  }
  return "unreachable";
}

std::string_view name_of(Coverage state) {
  switch (state) {
    case Coverage::kFinding:
      return "failed";
    case Coverage::kNotExecuted:
      return "not_executed";
    case Coverage::kDefect:
      return "known_defect";
    case Coverage::kRight:
      return "right";
    case Coverage::kNever:
      return "never_reached";
    case Coverage::kUnreachable:
      break;
  }
  return "unreachable";
}

namespace {

// The devices of the ledgers; the host's cells where nothing was examined.
std::set<Device> devices_of(const Summary& summary) {
  std::set<Device> devices;
  for (const auto& [key, run] : summary.runs) devices.insert(key[1] == "cuda" ? Device::kCuda : Device::kHost);
  if (devices.empty()) devices.insert(Device::kHost);
  return devices;
}

Coverage coverage_of(const CellCounts& counts) {
  return counts.findings > 0 ? Coverage::kFinding : counts.right > 0 ? Coverage::kRight : Coverage::kDefect;
}

// Several packed cells name the same cell, which is what all of them together say of it.
std::map<std::string, CellCounts> by_cell(const std::unordered_map<std::string, CellCounts>& packed_cells,
                                          std::vector<std::string> (&names_in)(const std::string&)) {
  std::map<std::string, CellCounts> cells;
  for (const auto& [packed, counts] : packed_cells) {
    for (std::string& name : names_in(packed)) cells[std::move(name)].add(counts);
  }
  return cells;
}

void add_matrix(Report& report) {
  std::set<std::string> exclusions;
  for (const Device device : devices_of(report.summary)) {
    const Matrix matrix(device);
    exclusions.insert(matrix.exclusions().begin(), matrix.exclusions().end());
    for (const auto& [cell, entry] : matrix.cells()) {
      const auto [found, is_new] = report.matrix.try_emplace(to_text(cell));
      if (entry.state == CellState::kNeverReached) {
        found->second = {};
      } else if (is_new) {
        found->second = {Coverage::kUnreachable, entry.reason};
      }
    }
  }
  for (const auto& [name, reason] : report.summary.planned_matrix()) {
    report.matrix[name] = {Coverage::kNotExecuted, reason};
  }
  for (const auto& [name, counts] : by_cell(report.summary.matrix_reached, unpacked_matrix)) {
    report.matrix[name] = {coverage_of(counts), ""};
  }
  report.exclusions.assign(exclusions.begin(), exclusions.end());
}

void add_cells(Report& report) {
  for (const Device device : devices_of(report.summary)) {
    for (const CellStatus& status : all_cells(device)) {
      const auto [found, is_new] = report.cells.try_emplace(to_text(status.cell));
      ReportedCell& cell = found->second;
      // Reachable on one device is reachable.
      if (status.reachable()) {
        cell = {};
      } else if (is_new) {
        cell = {Coverage::kUnreachable, status.reason};
      }
    }
  }
  for (const auto& [name, reason] : report.summary.missing_cells()) {
    report.cells[name] = {Coverage::kNotExecuted, reason};
  }
  for (const auto& [name, counts] : by_cell(report.summary.reached, unpacked)) {
    report.cells[name] = {coverage_of(counts), ""};
  }
  for (const auto& [name, cell] : report.cells) ++report.cell_counts[cell.state];
}

}  // namespace

Report make_report(std::vector<std::string> ledgers, std::string version, Summary summary) {
  Report report;
  report.ledgers = std::move(ledgers);
  report.version = std::move(version);
  report.status = summary.exit_status();
  report.summary = std::move(summary);
  add_matrix(report);
  add_cells(report);
  for (const auto& [cause, finding] : report.summary.findings) {
    report.findings.push_back({cause, finding.count, nlohmann::ordered_json::parse(finding.example.line())});
  }
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const ReportedFinding& a, const ReportedFinding& b) { return a.count > b.count; });
  return report;
}

Headline headline(const Report& report) {
  const Summary& s = report.summary;
  Headline result;
  if (!s.findings.empty()) {
    result.lines.push_back(fmt::format("{} failed, for {}", count_of(s.findings_count, "execution", "executions"),
                                       count_of(static_cast<int64_t>(s.findings.size()), "cause", "causes")));
  }
  if (s.launched == 0) {
    result.lines.push_back(s.examined == 0 ? "Nothing was executed: the ledgers are empty"
                                           : "Nothing was executed: no kernel ran");
  }
  if (const int64_t holes = s.required_not_executed(); holes > 0) {
    std::string why;
    for (const auto& [reason, skipped] : s.not_executed) {
      if (skipped.required == 0) continue;
      const auto evidence = nlohmann::ordered_json::parse(skipped.example.line());
      why += (why.empty() ? ": " : "; ") + evidence["observed"].value("reason", reason);
    }
    result.lines.push_back(fmt::format("{} had to run and did not{}", count_of(holes, "case", "cases"), why));
  }
  if (const int64_t missing = static_cast<int64_t>(s.missing_cells().size()); missing > 0) {
    result.lines.push_back(fmt::format("{} had to be reached and never {}", count_of(missing, "cell", "cells"),
                                       missing == 1 ? "was" : "were"));
  }
  if (s.broken > 0) {
    result.lines.push_back(fmt::format("{} of the evidence could not be read", count_of(s.broken, "line", "lines")));
  }
  result.word = !s.findings.empty()  ? "FAILED"
                : report.status == 3 ? "NOT EXECUTED"
                : report.status == 2 ? "INCOMPLETE"
                                     : "OK";
  if (report.status == 0) {
    result.lines.push_back(s.defects > 0
                               ? "Everything that had to run did; known defects failed as predicted, the rest is right"
                               : "Everything that had to run did, and is right");
  }
  if (const int64_t skipped = s.examined - s.executed; skipped > 0) {
    result.lines.push_back(fmt::format("{} of {} examined {} not executed; none of them counts as a pass",
                                       grouped(skipped), count_of(s.examined, "case", "cases"),
                                       skipped == 1 ? "was" : "were"));
  }
  if (s.torn > 0) {
    result.lines.push_back(fmt::format("{} cut off by a crash or a full disk: what ran there is not counted",
                                       s.torn == 1 ? "1 line was" : grouped(s.torn) + " lines were"));
  }
  return result;
}

std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

std::string count_of(int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", grouped(count), count == 1 ? one : many);
}

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        // XML has no other control characters.
        result += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return result;
}

}  // namespace brink
