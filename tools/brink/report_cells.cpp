#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tools/brink/report.h"

namespace brink {

namespace {

// A cell's words apart; see to_text(Cell).
struct Words {
  std::string variant;  // with its path
  std::string direction;
  std::string index_type;
  std::string expression;
  std::string boundary;
  std::string side;
  std::string location;
  std::string form;
};

Words words_of(const std::string& cell) {
  Words w;
  std::istringstream stream(cell);
  stream >> w.variant >> w.direction >> w.index_type >> w.expression >> w.boundary >> w.side >> w.location >> w.form;
  return w;
}

constexpr std::string_view kSides[] = {"above", "at", "below"};
constexpr std::string_view kLocations[] = {"start", "boundary", "end"};

// The picture in one field of a table: sides by locations.
struct Picture {
  const ReportedCell* cells[3][3] = {};
  int64_t counts[std::size(kCoverages)] = {};

  void add(const Words& w, const ReportedCell& cell) {
    ++counts[static_cast<size_t>(cell.state)];
    const auto row = static_cast<size_t>(std::find(std::begin(kSides), std::end(kSides), w.side) - kSides);
    const auto column =
        static_cast<size_t>(std::find(std::begin(kLocations), std::end(kLocations), w.location) - kLocations);
    if (row >= 3 || column >= 3) return;
    // Launch forms share a square, which shows what counts most. A form that is out of reach says nothing of the rest.
    const ReportedCell*& shown = cells[row][column];
    if (shown == nullptr || cell.state < shown->state) shown = &cell;
  }

  std::string html(const std::string& name) const {
    std::string label;
    for (const Coverage state : kCoverages) {
      const int64_t count = counts[static_cast<size_t>(state)];
      if (count > 0) label += fmt::format("{}{} {}", label.empty() ? "" : ", ", count, words_for(state));
    }
    std::string svg =
        fmt::format(R"(<svg class="cell" viewBox="0 0 38 38" role="img" aria-label="{0}: {1}"><title>{0}: {1}</title>)",
                    escaped(name), label);
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) {
        if (cells[row][column] == nullptr) continue;
        svg += fmt::format(R"(<use href="#c-{}" x="{}" y="{}"/>)", name_of(cells[row][column]->state), column * 13,
                           row * 13);
      }
    }
    return svg + "</svg>";
  }
};

std::string legend(const Report& report) {
  std::string html = "<ul class=\"legend\">\n";
  for (const Coverage state : kCoverages) {
    const auto found = report.cell_counts.find(state);
    html += fmt::format(
        "<li><svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\"><use href=\"#c-{}\"/></svg> <b>{}</b> "
        "{}</li>\n",
        name_of(state), grouped(found == report.cell_counts.end() ? 0 : found->second), words_for(state));
  }
  return html + "</ul>\n";
}

// All cells in one bar.
std::string total_bar(const Report& report) {
  int64_t total = 0;
  std::string label;
  for (const auto& [state, count] : report.cell_counts) {
    total += count;
    label += fmt::format("{}{} {}", label.empty() ? "" : ", ", grouped(count), words_for(state));
  }
  if (total == 0) return "";
  std::string svg = fmt::format(
      "<svg class=\"bar\" viewBox=\"0 0 1000 20\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{} cells: "
      "{}\">",
      grouped(total), label);
  double x = 0;
  for (const auto& [state, count] : report.cell_counts) {
    const double width = 1000.0 * static_cast<double>(count) / static_cast<double>(total);
    svg += fmt::format(R"(<rect class="s-{}" x="{:.1f}" y="0" width="{:.1f}" height="20"/>)", name_of(state), x,
                       std::max(width - 1, 1.0));
    x += width;
  }
  return svg + "</svg>\n";
}

}  // namespace

std::string cells_html(const Report& report) {
  // variant -> expression and boundary -> direction and index type
  using Row = std::map<std::pair<std::string, std::string>, Picture>;
  std::map<std::string, std::vector<std::pair<std::string, Row>>> tables;
  std::map<std::string, std::set<std::pair<std::string, std::string>>> columns;
  for (const auto& [name, cell] : report.cells) {
    const Words w = words_of(name);
    auto& rows = tables[w.variant];
    const std::string row_name = w.expression + " " + w.boundary;
    auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.first == row_name; });
    if (row == rows.end()) row = rows.insert(rows.end(), {row_name, {}});
    row->second[{w.direction, w.index_type}].add(w, cell);
    columns[w.variant].emplace(w.direction, w.index_type);
  }
  std::string html = total_bar(report) + legend(report);
  html +=
      "<p>A picture stands for one expression at one boundary. Its rows are the sides of the boundary (above, on it, "
      "below), its columns the places that were looked at (start, boundary, end).</p>\n";
  for (const auto& [variant, rows] : tables) {
    int64_t reached = 0;
    int64_t reachable = 0;
    std::string body;
    for (const auto& [row_name, row] : rows) {
      const size_t space = row_name.find(' ');
      body += fmt::format("<tr><th scope=\"row\">{} <span class=\"at\">{}</span></th>",
                          escaped(row_name.substr(0, space)), escaped(row_name.substr(space + 1)));
      for (const auto& column : columns[variant]) {
        const auto found = row.find(column);
        if (found == row.end()) {
          body += "<td></td>";
          continue;
        }
        const Picture& p = found->second;
        for (const Coverage state : kCoverages) {
          const int64_t count = p.counts[static_cast<size_t>(state)];
          if (state != Coverage::kUnreachable) reachable += count;
          const bool was = state == Coverage::kFinding || state == Coverage::kDefect || state == Coverage::kRight;
          if (was) reached += count;
        }
        body += "<td>" + p.html(fmt::format("{}, {} {}", row_name, column.first, column.second)) + "</td>";
      }
      body += "</tr>\n";
    }
    html += fmt::format(
        "<h3>{0}: {1} of {2} reachable cells reached</h3>\n<div class=\"scroll\" role=\"region\" "
        "aria-label=\"Cells of {0}\" tabindex=\"0\">\n<table class=\"cells\">\n<thead><tr><th scope=\"col\">Expression "
        "and boundary</th>",
        escaped(variant), grouped(reached), grouped(reachable));
    for (const auto& [direction, index_type] : columns[variant]) {
      html += fmt::format("<th scope=\"col\">{}<br>{}</th>", direction, index_type);
    }
    html += "</tr></thead>\n<tbody>\n" + body + "</tbody>\n</table>\n</div>\n";
  }
  return html;
}

}  // namespace brink
