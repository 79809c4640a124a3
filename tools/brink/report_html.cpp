#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/brink/report.h"
#include "tools/brink/text.h"

namespace brink {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark;
  --page: #ffffff; --panel: #f6f8fa; --ink: #1f2328; --soft: #57606a; --rule: #d0d7de; --link: #0550ae;
  --failed: #b42318; --failed-soft: #fdecea; --open: #8a5a00; --open-soft: #fff4d6; --right: #1a7f37;
  --right-soft: #e6f6ea; --known: #0b5cad; --known-soft: #e4f0fd; --never: #57606a; --odd: #c4d3e3; --row: #a9c1da; }
@media (prefers-color-scheme: dark) { :root {
  --page: #0d1117; --panel: #161b22; --ink: #e6edf3; --soft: #9da7b1; --rule: #30363d; --link: #79b8ff;
  --failed: #ff7b72; --failed-soft: #3b1618; --open: #e3b341; --open-soft: #33280a; --right: #56d364;
  --right-soft: #0f2d18; --known: #79b8ff; --known-soft: #0f2440; --never: #9da7b1; --odd: #2c3f55; --row: #3a5675; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", Roboto,
  "Helvetica Neue", "DejaVu Sans", sans-serif; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; padding: 8px 12px; background: var(--page); color: var(--link);
  border: 2px solid var(--link); }
main, header, footer { max-width: 1120px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 28px; }
h1 { font-size: 1.1rem; margin: 0 0 12px; color: var(--soft); font-weight: 600; }
h2 { font-size: 1.35rem; margin: 44px 0 12px; padding-bottom: 6px; border-bottom: 1px solid var(--rule); }
h3 { font-size: 1.02rem; margin: 28px 0 8px; overflow-wrap: anywhere; }
p { margin: 8px 0; max-width: 76ch; }
a { color: var(--link); }
code, pre { font: 0.86em/1.5 ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", Menlo, monospace; }
pre { margin: 10px 0 0; padding: 10px 12px; background: var(--page); border: 1px solid var(--rule); border-radius: 6px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.verdict { border-left: 8px solid; border-radius: 6px; padding: 14px 18px; }
.verdict .word { font-size: 1.8rem; line-height: 1.2; font-weight: 700; margin: 0; }
.verdict ul { margin: 8px 0 0; padding-left: 20px; }
.verdict li { overflow-wrap: anywhere; }
.failed-box { background: var(--failed-soft); border-color: var(--failed); } .failed-box .word { color: var(--failed); }
.open-box { background: var(--open-soft); border-color: var(--open); } .open-box .word { color: var(--open); }
.right-box { background: var(--right-soft); border-color: var(--right); } .right-box .word { color: var(--right); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(132px, 1fr)); gap: 10px; margin: 16px 0 0;
  padding: 0; list-style: none; }
.tiles li { background: var(--panel); border: 1px solid var(--rule); border-radius: 6px; padding: 10px 12px; }
.tiles b { display: block; font-size: 1.3rem; font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: 0.86rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 4px 18px; list-style: none; padding: 0; margin: 18px 0 0; }
.finding { background: var(--panel); border: 1px solid var(--rule); border-left: 6px solid var(--failed);
  border-radius: 6px; padding: 2px 16px 14px; margin: 14px 0; }
.finding h3 { margin-top: 12px; } .finding p { max-width: none; }
.finding ul { margin: 6px 0; padding-left: 20px; }
.cross { color: var(--failed); }
.soft { color: var(--soft); }
.scroll { overflow-x: auto; margin: 10px 0; }
.scroll:focus-visible, a:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; font-size: 0.9rem; }
caption { text-align: left; color: var(--soft); padding: 0 0 6px; }
th, td { text-align: left; vertical-align: top; padding: 5px 14px 5px 0; border-bottom: 1px solid var(--rule); }
thead th { color: var(--soft); font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 600; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.differs td, tr.differs th { background: var(--failed-soft); }
.cells th, .cells td { padding: 3px 10px 3px 0; vertical-align: middle; white-space: nowrap; }
.cells thead th { padding-right: 12px; font-size: 0.8rem; line-height: 1.25; vertical-align: bottom; }
.cells tbody th { position: sticky; left: 0; background: var(--page); padding-right: 16px; font-weight: 500; }
.cells .at { color: var(--soft); display: block; font-size: 0.78rem; line-height: 1.1; }
.matrix td, .matrix thead th { padding-right: 16px; white-space: nowrap; font-variant-numeric: tabular-nums; }
.matrix tbody th { white-space: nowrap; position: sticky; left: 0; background: var(--page); font-weight: 500; }
.m { font-size: 0.84rem; }
svg.cell { width: 40px; height: 40px; display: block; }
svg.key { width: 14px; height: 14px; vertical-align: -2px; }
svg.bar { width: 100%; height: 20px; display: block; border-radius: 4px; }
svg.line { display: block; width: 100%; min-width: 640px; height: auto; }
svg text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink); }
svg .power { font-size: 9px; } svg .axis { fill: var(--soft); }
.row { fill: var(--row); } .row.odd { fill: var(--odd); }
.limit { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 4 3; } svg .limit-name { font-weight: 600; stroke: none; }
.wrap { fill: none; stroke: var(--failed); stroke-width: 2; } .should, .tip { fill: var(--failed); }
rect.wrong, svg text.wrong { fill: var(--failed); } rect.never_written, svg text.never_written { fill: var(--open); }
rect.contended, svg text.contended { fill: var(--known); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; list-style: none; padding: 0; margin: 12px 0; font-size: 0.9rem; }
.s-failed { fill: var(--failed); } .s-not_executed { fill: var(--open); } .s-known_defect { fill: var(--known); }
.s-right { fill: var(--right); } .s-never_reached { fill: var(--page); stroke: var(--never); }
.s-unreachable { fill: var(--rule); } .g { stroke: var(--page); stroke-width: 1.8; fill: none; stroke-linecap: round; }
.g.fill { fill: var(--page); stroke: none; }
.t0 { fill: var(--known); } .t1 { fill: var(--soft); } .t2 { fill: var(--right); } .t3 { fill: var(--open); }
footer { color: var(--soft); font-size: 0.86rem; padding: 32px 20px 48px; }
@media (max-width: 560px) { main, header, footer { padding-left: 12px; padding-right: 12px; } h2 { margin-top: 34px; }
  .finding { padding: 2px 10px 12px; } .verdict .word { font-size: 1.5rem; } }
@media print { nav, .skip { display: none; } .scroll { overflow: visible; } }
)css";

// The symbols of the states, 12 by 12, used by reference.
constexpr std::string_view kSymbols =
    R"svg(<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>
<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker>
<g id="c-failed"><rect class="s-failed" width="12" height="12" rx="2"/><path class="g" d="M3.5 3.5l5 5m0-5l-5 5"/></g>
<g id="c-not_executed"><rect class="s-not_executed" width="12" height="12" rx="2"/><path class="g" d="M6 2.6v4.2m0 2.4v.1"/></g>
<g id="c-known_defect"><rect class="s-known_defect" width="12" height="12" rx="2"/><path class="g fill" d="M6 2.5 9.5 6 6 9.5 2.5 6z"/></g>
<g id="c-right"><rect class="s-right" width="12" height="12" rx="2"/><path class="g" d="M3 6.3l2.1 2.2L9 4"/></g>
<g id="c-never_reached"><rect class="s-never_reached" x=".5" y=".5" width="11" height="11" rx="2"/></g>
<g id="c-unreachable"><circle class="s-unreachable" cx="6" cy="6" r="1.6"/></g>
</defs></svg>
)svg";

std::string range_text(const char* name, const Json& box, int at) {
  const auto first = box.at(at).get<int64_t>();
  const auto last = box.at(at + 1).get<int64_t>();
  return first == last ? fmt::format("{} {}", name, first) : fmt::format("{} {}..{}", name, first, last);
}

std::string set_text(const Json& outcome, const char* name) {
  const auto found = outcome.find(name);
  if (found == outcome.end()) return "none";
  const auto elements = found->at("elements").get<int64_t>();
  std::string text = count_of(elements, "element", "elements");
  const Json& boxes = found->at("boxes");
  for (size_t i = 0; i < std::min<size_t>(3, boxes.size()); ++i) {
    text += fmt::format("{}{}, {}, {}", i == 0 ? ": " : "; ", range_text("outer", boxes[i], 0),
                        range_text("dim", boxes[i], 2), range_text("inner", boxes[i], 4));
  }
  return boxes.size() > 3 ? text + "; and more" : text;
}

std::string text_or(const Json& j, const char* name, const char* otherwise) {
  return j.contains(name) ? j[name].get<std::string>() : otherwise;
}

std::string launch_text(const Json& outcome) {
  if (!outcome.contains("grid")) return "none";
  return fmt::format("grid ({}), block ({})", fmt::join(outcome["grid"].get<std::vector<int64_t>>(), ", "),
                     fmt::join(outcome["block"].get<std::vector<int64_t>>(), ", "));
}

std::string out_of_bounds_text(const Json& outcome) {
  if (!outcome.contains("out_of_bounds")) return "none";
  const Json& all = outcome["out_of_bounds"];
  return fmt::format("addresses {} to {}{}", all[0][0].get<int64_t>(), all[0][1].get<int64_t>(),
                     all.size() > 1 ? " and more" : "");
}

std::string path_text(const Json& outcome) {
  return text_or(outcome, "path", "none") +
         (outcome.contains("variant") ? " (" + outcome["variant"].get<std::string>() + ")" : "");
}

std::string comparison_table(const Json& evidence) {
  const Json& p = evidence.at("predicted");
  const Json& o = evidence.at("observed");
  std::string html =
      "<div class=\"scroll\" role=\"region\" aria-label=\"Prediction and observation\" tabindex=\"0\">\n<table>\n"
      "<thead><tr><th scope=\"col\"></th><th scope=\"col\">Predicted</th><th scope=\"col\">Observed</th></tr></thead>\n"
      "<tbody>\n";
  const auto row = [&](const char* name, const std::string& predicted, const std::string& observed) {
    if (predicted == "none" && observed == "none") return;
    const bool differs = predicted != observed;
    html += fmt::format("<tr{}><th scope=\"row\">{}</th><td>{}</td><td>{}{}</td></tr>\n",
                        differs ? " class=\"differs\"" : "", name, escaped(predicted),
                        differs ? "<span class=\"cross\">\u2260</span> " : "", escaped(observed));
  };
  row("verdict", p.at("verdict"), o.at("verdict"));
  if (p.contains("reason") || o.contains("reason")) row("reason", text_or(p, "reason", "-"), text_or(o, "reason", "-"));
  row("path", path_text(p), path_text(o));
  row("index type", text_or(p, "index_type", "none"), text_or(o, "index_type", "none"));
  row("launch", launch_text(p), launch_text(o));
  for (const auto& [set, words] :
       {std::pair("wrong", "wrong \u2717"), std::pair("never_written", "never written \u25cb"),
        std::pair("contended", "contended \u2016")}) {
    row(words, set_text(p, set), set_text(o, set));
  }
  row("out of bounds", out_of_bounds_text(p), out_of_bounds_text(o));
  html += "</tbody>\n</table>\n</div>\n";
  if (p.contains("exact")) html += "<p class=\"soft\">The predicted sets are supersets of what can be wrong.</p>\n";
  return html;
}

std::string case_text(const Json& evidence) {
  const Json& c = evidence.at("case");
  return fmt::format("{} [{}] axis {} {} {}, {} memory, {}", c.at("operation").get<std::string>(),
                     fmt::join(c.at("shape").get<std::vector<int64_t>>(), ", "), c.at("axis").get<int64_t>(),
                     c.at("dtype").get<std::string>(), c.at("implementation").get<std::string>(),
                     c.at("memory").get<std::string>(), evidence.at("device").get<std::string>());
}

std::string finding_html(const ReportedFinding& finding) {
  const Json& e = finding.evidence;
  std::string html = fmt::format(
      "<article class=\"finding\">\n<h3><span class=\"cross\" aria-hidden=\"true\">\u2717</span> {} <span "
      "class=\"soft\">({})</span></h3>\n<p>Smallest case: {}</p>\n",
      escaped(finding.cause), count_of(finding.count, "execution", "executions"), escaped(case_text(e)));
  html += "<ul>\n";
  for (const Json& line : e.at("findings")) html += "<li>" + escaped(line.get<std::string>()) + "</li>\n";
  const Json overflow = e.at("predicted").value("first_overflow", Json());
  if (!overflow.is_null()) {
    std::string where;
    if (overflow.contains("at")) {
      where = fmt::format(" at outer {}, dim {}, inner {}", overflow["at"][0].get<int64_t>(),
                          overflow["at"][1].get<int64_t>(), overflow["at"][2].get<int64_t>());
    }
    html += fmt::format("<li>First overflow: {} = {} becomes {}{}</li>\n", overflow.at("expression").get<std::string>(),
                        overflow.at("exact").get<std::string>(), overflow.at("wrapped").get<int64_t>(), where);
  }
  html += "</ul>\n";
  if (const std::string svg = address_line_svg(e); !svg.empty()) {
    html += "<div class=\"scroll\" role=\"region\" aria-label=\"Address line\" tabindex=\"0\">\n" + svg + "</div>\n";
  }
  html += comparison_table(e);
  html +=
      "<p>To repeat it:</p>\n<pre><code>" + escaped(e.at("repeat").get<std::string>()) + "</code></pre>\n</article>\n";
  return html;
}

std::string findings_html(const Report& report) {
  std::string html = "<section aria-labelledby=\"failed\">\n<h2 id=\"failed\">What failed</h2>\n";
  if (report.findings.empty()) html += "<p>Nothing that ran was other than it has to be.</p>\n";
  constexpr size_t kShown = 40;
  for (size_t i = 0; i < std::min(kShown, report.findings.size()); ++i) html += finding_html(report.findings[i]);
  if (report.findings.size() > kShown) {
    html += fmt::format("<p>And {} more causes; --json has them all.</p>\n", report.findings.size() - kShown);
  }
  return html + "</section>\n";
}

// A table in a region of its own, which scrolls where the page is narrow. Columns that end in '#' hold numbers.
class Table {
 public:
  Table(const std::string& name, const std::vector<std::string>& columns) {
    html_ = fmt::format("<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n<table>\n<thead><tr>",
                        escaped(name));
    for (const std::string& column : columns) {
      numbers_.push_back(column.ends_with('#'));
      html_ += fmt::format("<th scope=\"col\"{}>{}</th>", numbers_.back() ? " class=\"number\"" : "",
                           escaped(numbers_.back() ? column.substr(0, column.size() - 1) : column));
    }
    html_ += "</tr></thead>\n<tbody>\n";
  }
  void row(const std::vector<std::string>& fields, bool differs = false) {
    html_ += differs ? "<tr class=\"differs\">" : "<tr>";
    for (size_t i = 0; i < fields.size(); ++i) {
      html_ += i == 0 ? "<th scope=\"row\">" + escaped(fields[i]) + "</th>"
                      : fmt::format("<td{}>{}</td>", numbers_[i] ? " class=\"number\"" : "", escaped(fields[i]));
    }
    html_ += "</tr>\n";
  }
  std::string html() const { return html_ + "</tbody>\n</table>\n</div>\n"; }

 private:
  std::string html_;
  std::vector<bool> numbers_;
};

std::string not_executed_html(const Report& report) {
  std::string html = "<section aria-labelledby=\"not-executed\">\n<h2 id=\"not-executed\">What was not executed</h2>\n";
  const Summary& s = report.summary;
  const auto missing = s.missing_cells();
  if (s.not_executed.empty() && missing.empty()) {
    return html +
           "<p>Everything that was examined ran, and every cell that it was to reach was reached.</p>\n</section>\n";
  }
  if (!s.not_executed.empty()) {
    Table table("Cases that were not executed", {"Reason", "Cases#", "Had to run#", "One of them"});
    for (const auto& [reason, skipped] : s.not_executed) {
      const auto evidence = Json::parse(skipped.example.line());
      table.row({text_or(evidence.at("observed"), "reason", reason.c_str()), grouped(skipped.count),
                 grouped(skipped.required), case_text(evidence)},
                skipped.required > 0);
    }
    html += table.html();
  }
  if (!missing.empty()) {
    html += "<h3>Cells that cases were to reach and that none reached</h3>\n";
    Table table("Cells that were not reached", {"Cell", "Reason"});
    size_t shown = 0;
    for (const auto& [cell, reason] : missing) {
      if (++shown > 30) break;
      table.row({cell, reason.empty() ? "executed, but not as predicted" : reason});
    }
    html += table.html();
    if (missing.size() > 30) html += fmt::format("<p>And {} more; --json has them all.</p>\n", missing.size() - 30);
  }
  return html + "</section>\n";
}

std::string agreement_html(const Summary& s) {
  Table table("Predicted and observed verdicts", {"Predicted", "Observed", "Executions#"});
  for (const auto& [key, count] : s.predicted_observed) {
    table.row({key[0], (key[0] == key[1] ? "= " : "\u2260 ") + key[1], grouped(count)},
              key[0] != key[1] && key[1] != "not_executed");
  }
  Table by("Verdicts of each implementation", {"Implementation", "Operation", "Device", "Observed verdicts"});
  for (const auto& [key, verdicts] : s.verdicts_of) {
    std::string text;
    for (const auto& [name, count] : verdicts)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(count), name);
    by.row({key[1], key[2], key[0], text});
  }
  return "<section aria-labelledby=\"agreement\">\n<h2 id=\"agreement\">Prediction against observation</h2>\n" +
         table.html() + "<h3>By implementation</h3>\n" + by.html() + "</section>\n";
}

std::string launches_html(const Summary& s) {
  Table table("Launches", {"Path and variant", "Index type", "Launch form", "Device", "Said by", "Largest grid",
                           "Blocks", "Launches#"});
  for (const auto& [key, launch] : s.launches) {
    std::string blocks;
    size_t shown = 0;
    for (const auto& block : launch.blocks) {
      if (++shown > 4) break;
      blocks += fmt::format("{}{}\u00d7{}", blocks.empty() ? "" : ", ", block[0], block[1]);
    }
    if (launch.blocks.size() > 4) blocks += fmt::format(" and {} more", launch.blocks.size() - 4);
    table.row({key[1] + "/" + key[2], key[3], key[4], key[0], key[5],
               fmt::format("{} \u00d7 {}", grouped(launch.largest_grid[0]), grouped(launch.largest_grid[1])), blocks,
               grouped(launch.count)});
  }
  return "<section aria-labelledby=\"launches\">\n<h2 id=\"launches\">Launches</h2>\n<p>Who said what ran: the kernel "
         "itself, by the stamp that it leaves; or, where a hang or a fault left none, the launching side.</p>\n" +
         table.html() + "</section>\n";
}

std::string memory_html(const Summary& s) {
  Table table("Memory", {"Memory", "Device", "Executions#", "Largest case, dense#", "Most held#", "Ratio#"});
  for (const auto& [key, m] : s.memory) {
    const bool counted = m.largest_held > 0;
    table.row({key[1], key[0], grouped(m.count), bytes_text(static_cast<double>(m.largest_dense)),
               counted ? bytes_text(static_cast<double>(m.largest_held)) : "touched pages",
               counted && m.largest_dense >= m.largest_held
                   ? fmt::format("1 : {}", grouped(m.largest_dense / m.largest_held))
                   : "-"});
  }
  return "<section aria-labelledby=\"memory\">\n<h2 id=\"memory\">Memory against dense</h2>\n<p>What the tensors would "
         "take if they were allocated whole, and what brink held instead.</p>\n" +
         table.html() + "</section>\n";
}

std::string speed_html(const Summary& s) {
  Table table("Speed", {"Memory", "Device", "Executions#", "Time#", "Executions per second#", "Kernel, mean#"});
  constexpr std::string_view kParts[] = {"predict", "prepare", "kernel", "compare"};
  std::string bars;
  for (const auto& [key, times] : s.speed) {
    const auto all = static_cast<double>(times.microseconds[EvidenceRecord::kAll]);
    const auto count = static_cast<double>(times.count);
    table.row(
        {key[1], key[0], grouped(times.count), fmt::format("{:.1f} s", all / 1e6),
         all > 0 ? fmt::format("{:.0f}", count / all * 1e6) : "-",
         fmt::format("{:.3f} ms", static_cast<double>(times.microseconds[EvidenceRecord::kKernel]) / count / 1e3)});
    if (all <= 0) continue;
    std::string label;
    std::string rects;
    double x = 0;
    for (size_t i = 0; i < std::size(kParts); ++i) {
      const double share = static_cast<double>(times.microseconds[i]) / all;
      rects += fmt::format(R"(<rect class="t{}" x="{:.1f}" y="0" width="{:.1f}" height="20"/>)", i, x,
                           std::max(share * 1000 - 1, 0.0));
      x += share * 1000;
      label += fmt::format("{}{} {:.0f}%", label.empty() ? "" : ", ", kParts[i], share * 100);
    }
    bars += fmt::format(
        "<p>{} memory, {}: {}</p>\n<svg class=\"bar\" viewBox=\"0 0 1000 20\" "
        "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">{}</svg>\n",
        key[1], key[0], label, label, rects);
  }
  return "<section aria-labelledby=\"speed\">\n<h2 id=\"speed\">Speed</h2>\n" + table.html() +
         (bars.empty() ? "" : "<h3>Where the time went</h3>\n" + bars) + "</section>\n";
}

std::string origin_html(const Report& report) {
  const Summary& s = report.summary;
  Table table("Runs", {"Command", "Role", "Device", "brink", "Seeds", "Executions#"});
  for (const auto& [key, run] : s.runs) {
    table.row({key[0], key[4], key[2].empty() ? key[1] : key[2], key[3],
               fmt::format("{}{}", fmt::join(run.seeds, ", "), run.seeds.size() >= 8 ? ", ..." : ""),
               grouped(run.count)});
  }
  std::string html =
      "<section aria-labelledby=\"origin\">\n<h2 id=\"origin\">Where it comes from</h2>\n" + table.html();
  html += "<p>Ledgers:</p>\n<ul>\n";
  for (const std::string& ledger : report.ledgers) html += "<li><code>" + escaped(ledger) + "</code></li>\n";
  html += "</ul>\n";
  if (s.broken > 0) {
    html += "<p>Lines that cannot be read:</p>\n<ul>\n";
    for (const std::string& line : s.broken_lines) html += "<li><code>" + escaped(line) + "</code></li>\n";
    html += "</ul>\n";
  }
  return html + "</section>\n";
}

std::string headline_html(const Report& report) {
  const Headline head = headline(report);
  const char* box = head.word == "FAILED" ? "failed-box" : head.word == "OK" ? "right-box" : "open-box";
  const char* symbol = head.word == "FAILED" ? "\u2717" : head.word == "OK" ? "\u2713" : "!";
  std::string html =
      fmt::format("<div class=\"verdict {}\">\n<p class=\"word\"><span aria-hidden=\"true\">{}</span> {}</p>\n<ul>\n",
                  box, symbol, head.word);
  for (const std::string& line : head.lines) html += "<li>" + escaped(line) + "</li>\n";
  html += "</ul>\n</div>\n<ul class=\"tiles\">\n";
  const auto tile = [&](int64_t number, const char* words) {
    html += fmt::format("<li><b>{}</b> <span>{}</span></li>\n", grouped(number), words);
  };
  const Summary& s = report.summary;
  const auto cells = [&](Coverage state) {
    const auto found = report.cell_counts.find(state);
    return found == report.cell_counts.end() ? 0 : found->second;
  };
  tile(s.launched, "kernels launched and compared");
  tile(s.findings_count, "executions failed");
  tile(s.examined - s.executed, "cases not executed");
  tile(s.defects, "known defects seen as predicted");
  tile(cells(Coverage::kRight) + cells(Coverage::kDefect) + cells(Coverage::kFinding), "cells reached");
  tile(cells(Coverage::kNever) + cells(Coverage::kNotExecuted), "reachable cells never reached");
  return html + "</ul>\n";
}

}  // namespace

std::string report_html(const Report& report) {
  const Headline head = headline(report);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>brink report: {}</title>\n<style>{}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to "
      "what failed</a>\n{}",
      head.word, kStyle, kSymbols);
  html += "<header>\n<h1>brink report</h1>\n" + headline_html(report) +
          "<nav aria-label=\"Contents\">\n<ul>\n<li><a href=\"#failed\">What failed</a></li>\n"
          "<li><a href=\"#not-executed\">What was not executed</a></li>\n<li><a "
          "href=\"#matrix\">Matrix</a></li>\n<li><a href=\"#cells\">Cells of expressions</a></li>\n"
          "<li><a href=\"#agreement\">Prediction against observation</a></li>\n"
          "<li><a href=\"#launches\">Launches</a></li>\n<li><a href=\"#memory\">Memory</a></li>\n"
          "<li><a href=\"#speed\">Speed</a></li>\n<li><a href=\"#origin\">Where it comes from</a></li>\n</ul>\n</nav>\n"
          "</header>\n<main id=\"main\">\n";
  html += findings_html(report);
  html += not_executed_html(report);
  html +=
      "<section aria-labelledby=\"matrix\">\n<h2 id=\"matrix\">Matrix</h2>\n" + matrix_html(report) + "</section>\n";
  html += "<section aria-labelledby=\"cells\">\n<h2 id=\"cells\">Cells of expressions</h2>\n" + cells_html(report) +
          "</section>\n";
  html += agreement_html(report.summary);
  html += launches_html(report.summary);
  html += memory_html(report.summary);
  html += speed_html(report.summary);
  html += origin_html(report);
  html +=
      fmt::format("</main>\n<footer>Made by brink {} from {}.</footer>\n</body>\n</html>\n", escaped(report.version),
                  count_of(report.summary.examined, "line of evidence", "lines of evidence"));
  return html;
}

}  // namespace brink
