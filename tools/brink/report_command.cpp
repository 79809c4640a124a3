#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "properties/read_ledger.h"
#include "properties/whole_file.h"
#include "tools/brink/commands.h"
#include "tools/brink/options.h"
#include "tools/brink/report.h"

namespace brink {

namespace {

struct Options {
  std::vector<std::string> ledgers;
  std::string html;
  std::string junit;
  std::string json;
  std::string markdown;
};

void write(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  if (const std::string error = write_whole(path, text); !error.empty()) throw UsageError{error};
}

void print_report(const Report& report) {
  const Headline head = headline(report);
  fmt::print("{}\n", head.word);
  for (const std::string& line : head.lines) fmt::print("  {}\n", line);
  constexpr size_t kShown = 12;
  for (size_t i = 0; i < std::min(kShown, report.findings.size()); ++i) {
    const ReportedFinding& f = report.findings[i];
    fmt::print("\nFINDING {} ({})\n  repeat: {}\n", f.cause, count_of(f.count, "execution", "executions"),
               f.evidence.at("repeat").get<std::string>());
  }
  if (report.findings.size() > kShown) fmt::print("\nand {} more causes\n", report.findings.size() - kShown);
  fmt::print("\ncells:");
  for (const auto& [state, count] : report.cell_counts) {
    fmt::print("{} {} {}", state == report.cell_counts.begin()->first ? "" : ",", grouped(count), words_for(state));
  }
  fmt::print("\n");
}

}  // namespace

void add_report(CLI::App& app, int& status) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("report", "what ran, what did not and what failed, from ledgers");
  command->add_option("ledger", options->ledgers, "files that --evidence has written; several count together")
      ->required();
  command->add_option("-o,--html", options->html, "write one self-contained page to this file");
  command->add_option("--junit", options->junit, "write JUnit XML to this file");
  command->add_option("--json", options->json, "write JSON to this file");
  command->add_option("--markdown", options->markdown, "write Markdown for a comment to this file");
  command->footer(
      "The exit status: 0 ok, 1 a finding, 3 something that had to run did not, 2 a ledger or a line of it that cannot "
      "be read.");
  command->callback([options, &status] {
    Summary summary;
    for (const std::string& ledger : options->ledgers) {
      if (const std::string error = read_ledger(ledger, summary); !error.empty()) throw UsageError{error};
    }
    summary.finish();
    const Report report = make_report(options->ledgers, BRINK_VERSION, std::move(summary));
    write(options->html, options->html.empty() ? "" : report_html(report));
    write(options->junit, options->junit.empty() ? "" : report_junit(report));
    write(options->json, options->json.empty() ? "" : report_json(report));
    write(options->markdown, options->markdown.empty() ? "" : report_markdown(report));
    print_report(report);
    for (const std::string& line : report.summary.broken_lines) fmt::print(stderr, "brink: {}\n", line);
    const auto unnamed = report.summary.broken - static_cast<int64_t>(report.summary.broken_lines.size());
    if (unnamed > 0) fmt::print(stderr, "brink: and {} more lines that cannot be read\n", unnamed);
    status = report.status;
  });
}

}  // namespace brink
