#include <fmt/format.h>

#include <algorithm>

#include "tools/brink/report.h"

// The forms of a report that are not a page.

namespace brink {

namespace {

using Json = nlohmann::ordered_json;

std::string reason_of(const NotExecutedSummary& skipped, const std::string& otherwise) {
  return Json::parse(skipped.example.line()).at("observed").value("reason", otherwise);
}

}  // namespace

std::string report_json(const Report& report) {
  const Summary& s = report.summary;
  const Headline head = headline(report);
  Json j;
  j["brink_report"] = 1;
  j["version"] = report.version;
  j["exit_status"] = report.status;
  j["headline"] = {{"word", head.word}, {"lines", head.lines}};
  j["ledgers"] = report.ledgers;
  j["examined"] = s.examined;
  j["executed"] = s.executed;
  j["launched"] = s.launched;
  j["failed"] = s.findings_count;
  j["defects_as_predicted"] = s.defects;
  j["verdicts"] = s.verdicts;
  j["findings"] = Json::array();
  for (const ReportedFinding& finding : report.findings) {
    j["findings"].push_back({{"cause", finding.cause}, {"executions", finding.count}, {"smallest", finding.evidence}});
  }
  j["not_executed"] = Json::array();
  for (const auto& [reason, skipped] : s.not_executed) {
    j["not_executed"].push_back({{"reason", reason_of(skipped, reason)},
                                 {"cases", skipped.count},
                                 {"required", skipped.required},
                                 {"smallest", Json::parse(skipped.example.line())}});
  }
  Json cells;
  for (const Coverage state : kCoverages) {
    const auto found = report.cell_counts.find(state);
    cells["counts"][std::string(name_of(state))] = found == report.cell_counts.end() ? 0 : found->second;
  }
  for (const auto& [name, cell] : report.cells) {
    if (cell.state == Coverage::kUnreachable) continue;
    cells["cells"][name] = name_of(cell.state);
  }
  j["cells"] = std::move(cells);
  j["launches"] = Json::array();
  for (const auto& [key, launch] : s.launches) {
    j["launches"].push_back({{"device", key[0]},
                             {"kernel", key[1] + "/" + key[2]},
                             {"index_type", key[3]},
                             {"form", key[4]},
                             {"said_by", key[5]},
                             {"launches", launch.count},
                             {"largest_grid", launch.largest_grid}});
  }
  j["memory"] = Json::array();
  for (const auto& [key, m] : s.memory) {
    j["memory"].push_back({{"device", key[0]},
                           {"memory", key[1]},
                           {"executions", m.count},
                           {"largest_dense_bytes", m.largest_dense},
                           {"largest_held_bytes", m.largest_held}});
  }
  j["torn_lines"] = s.torn;
  j["broken_lines"] = s.broken;
  j["broken"] = s.broken_lines;
  // What differs from run to run.
  j["time"] = Json::array();
  for (const auto& [key, times] : s.speed) {
    j["time"].push_back({{"device", key[0]},
                         {"memory", key[1]},
                         {"executions", times.count},
                         {"predict_us", times.microseconds[EvidenceRecord::kPredict]},
                         {"prepare_us", times.microseconds[EvidenceRecord::kPrepare]},
                         {"kernel_us", times.microseconds[EvidenceRecord::kKernel]},
                         {"compare_us", times.microseconds[EvidenceRecord::kCompare]},
                         {"all_us", times.microseconds[EvidenceRecord::kAll]}});
  }
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string report_junit(const Report& report) {
  const Summary& s = report.summary;
  std::string cases;
  int64_t tests = 0;
  int64_t failures = 0;
  int64_t errors = 0;
  int64_t skipped_tests = 0;
  const auto begin = [&](const std::string& group, const std::string& name) {
    ++tests;
    cases += fmt::format("  <testcase classname=\"brink.{}\" name=\"{}\"", escaped(group), escaped(name));
  };
  for (const ReportedFinding& finding : report.findings) {
    begin("findings", finding.cause);
    ++failures;
    std::string text;
    for (const Json& line : finding.evidence.at("findings")) text += line.get<std::string>() + "\n";
    cases += fmt::format("><failure message=\"{}\">{}{}</failure></testcase>\n",
                         escaped(count_of(finding.count, "execution", "executions")), escaped(text),
                         escaped(finding.evidence.at("repeat").get<std::string>()));
  }
  for (const auto& [reason, skipped] : s.not_executed) {
    const std::string why = reason_of(skipped, reason);
    begin("not_executed", why);
    if (skipped.required > 0 || s.launched == 0) {
      ++errors;
      cases += fmt::format("><error message=\"had to run and did not: {}\"/></testcase>\n", escaped(why));
    } else {
      ++skipped_tests;
      cases += fmt::format("><skipped message=\"{}: {}\"/></testcase>\n", count_of(skipped.count, "case", "cases"),
                           escaped(why));
    }
  }
  for (const auto& [cell, reason] : s.missing_cells()) {
    begin("required_cells", cell);
    ++errors;
    cases += fmt::format("><error message=\"had to be reached and never was{}{}\"/></testcase>\n",
                         reason.empty() ? "" : ": ", escaped(reason));
  }
  if (s.examined == 0) {
    begin("not_executed", "nothing was examined");
    ++errors;
    cases += "><error message=\"the ledgers are empty\"/></testcase>\n";
  }
  for (const std::string& line : s.broken_lines) {
    begin("evidence", line);
    ++errors;
    cases += "><error message=\"this line cannot be read\"/></testcase>\n";
  }
  // What ran and was as it has to be. Its failures stand above, by cause.
  for (const auto& [key, verdicts] : s.verdicts_of) {
    int64_t ran = 0;
    for (const auto& [verdict, count] : verdicts) {
      if (verdict != "not_executed") ran += count;
    }
    if (ran == 0) continue;
    begin(key[0] + "." + key[1], key[2]);
    cases += fmt::format("><system-out>{} ran; those that failed stand under brink.findings</system-out></testcase>\n",
                         count_of(ran, "case", "cases"));
  }
  int64_t microseconds = 0;
  for (const auto& [key, times] : s.speed) microseconds += times.microseconds[EvidenceRecord::kAll];
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"brink\" tests=\"{}\" "
      "failures=\"{}\" "
      "errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuite>\n</testsuites>\n",
      tests, failures, errors, skipped_tests, static_cast<double>(microseconds) / 1e6, cases);
}

std::string report_markdown(const Report& report) {
  constexpr size_t kShown = 8;
  const Summary& s = report.summary;
  const Headline head = headline(report);
  std::string text = fmt::format("### brink: {}\n\n", head.word);
  for (const std::string& line : head.lines) text += "- " + line + "\n";
  const auto code = [](std::string word) {
    std::replace(word.begin(), word.end(), '`', '\'');
    std::replace(word.begin(), word.end(), '|', '/');
    return "`" + word + "`";
  };
  if (!report.findings.empty()) {
    text += "\n| cause | executions | repeat |\n|---|---:|---|\n";
    for (size_t i = 0; i < std::min(kShown, report.findings.size()); ++i) {
      const ReportedFinding& f = report.findings[i];
      text += fmt::format("| {} | {} | {} |\n", f.cause, grouped(f.count), code(f.evidence.at("repeat")));
    }
    if (report.findings.size() > kShown) text += fmt::format("\nand {} more causes\n", report.findings.size() - kShown);
  }
  if (!s.not_executed.empty()) {
    text += "\n| not executed | cases | had to run |\n|---|---:|---:|\n";
    size_t shown = 0;
    for (const auto& [reason, skipped] : s.not_executed) {
      if (++shown > kShown) break;
      text += fmt::format("| {} | {} | {} |\n", code(reason_of(skipped, reason)), grouped(skipped.count),
                          grouped(skipped.required));
    }
    if (s.not_executed.size() > kShown) text += fmt::format("\nand {} more reasons\n", s.not_executed.size() - kShown);
  }
  text += "\nCells:";
  for (const Coverage state : kCoverages) {
    const auto found = report.cell_counts.find(state);
    if (found == report.cell_counts.end()) continue;
    text += fmt::format("{} {} {}", text.ends_with(':') ? "" : ",", grouped(found->second), words_for(state));
  }
  return text + fmt::format(". {} launched, brink {}.\n", count_of(s.launched, "kernel", "kernels"), report.version);
}

}  // namespace brink
