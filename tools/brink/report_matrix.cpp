#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <set>
#include <sstream>

#include "tools/brink/report.h"

namespace brink {

namespace {

// A place in a range of offsets, as the matrix's columns have them.
struct Column {
  std::string range;
  std::string place;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {{"<=2^31-1", "start"}, {"<=2^31-1", "end"},   {">2^31-1", "start"},
                                          {">2^31-1", "2^31-1"}, {">2^31-1", "end"},    {">2^32-1", "start"},
                                          {">2^32-1", "2^31-1"}, {">2^32-1", "2^32-1"}, {">2^32-1", "end"}};
  return all;
}

struct Field {
  std::array<int64_t, std::size(kCoverages)> counts{};

  int64_t of(Coverage state) const { return counts[static_cast<size_t>(state)]; }
  int64_t reached() const { return of(Coverage::kFinding) + of(Coverage::kDefect) + of(Coverage::kRight); }
  int64_t reachable() const { return reached() + of(Coverage::kNotExecuted) + of(Coverage::kNever); }
  // A failure and a hole show whatever else there is.
  Coverage state() const {
    for (const Coverage state : kCoverages) {
      if (of(state) > 0) return state;
    }
    return Coverage::kUnreachable;
  }
};

using Row = std::vector<Field>;

std::string field_html(const Field& field, const std::string& name) {
  if (field.reachable() + field.of(Coverage::kUnreachable) == 0) return "<td></td>";
  std::string label;
  for (const Coverage state : kCoverages) {
    if (field.of(state) > 0) {
      label += fmt::format("{}{} {}", label.empty() ? "" : ", ", grouped(field.of(state)), words_for(state));
    }
  }
  const std::string counts =
      field.reachable() == 0 ? "" : fmt::format("{}/{}", grouped(field.reached()), grouped(field.reachable()));
  return fmt::format(
      "<td class=\"m\"><svg class=\"key\" viewBox=\"0 0 12 12\" role=\"img\" aria-label=\"{0}: {1}\"><title>{0}: "
      "{1}</title><use href=\"#c-{2}\"/></svg> {3}</td>",
      escaped(name), label, name_of(field.state()), counts);
}

}  // namespace

std::string matrix_html(const Report& report) {
  std::set<std::string> examined;
  for (const auto& [key, verdicts] : report.summary.verdicts_of) examined.insert(key[1]);
  std::map<std::string, std::map<std::string, Row>> tables;
  std::set<std::string> others;
  Field all;
  for (const auto& [name, cell] : report.matrix) {
    // See to_text(MatrixCell).
    std::istringstream stream(name);
    std::string variant, direction, axis, inner, range, place, implementation, index_type;
    stream >> variant >> direction >> axis >> inner >> range >> place >> implementation >> index_type;
    ++all.counts[static_cast<size_t>(cell.state)];
    if (examined.count(implementation) == 0) {
      others.insert(implementation);
      continue;
    }
    Row& row = tables[variant][fmt::format("{} {}", implementation, index_type)];
    row.resize(columns().size());
    for (size_t i = 0; i < columns().size(); ++i) {
      if (columns()[i].range == range && columns()[i].place == place) {
        ++row[i].counts[static_cast<size_t>(cell.state)];
      }
    }
  }
  std::string html = fmt::format(
      "<p>{} of {} reachable cells reached. A cell is a path and variant, direction, axis (last or not), inner_size (1 "
      "or greater), range of offsets, place looked at, implementation, index type, launch form, dtype and memory. A "
      "field stands for all cells of its row and column; its symbol is the one that counts most, its numbers those "
      "reached of those reachable.</p>\n<ul class=\"legend\">\n",
      grouped(all.reached()), grouped(all.reachable()));
  for (const Coverage state : kCoverages) {
    html += fmt::format(
        "<li><svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\"><use href=\"#c-{}\"/></svg> <b>{}</b> "
        "{}</li>\n",
        name_of(state), grouped(all.of(state)), words_for(state));
  }
  html += "</ul>\n";
  for (const auto& [variant, rows] : tables) {
    html += fmt::format(
        "<h3>{0}</h3>\n<div class=\"scroll\" role=\"region\" aria-label=\"Matrix of {0}\" tabindex=\"0\">\n<table "
        "class=\"matrix\">\n<thead>\n<tr><th scope=\"col\" rowspan=\"2\">Implementation, index type</th><th "
        "scope=\"colgroup\" colspan=\"2\">offsets up to 2^31-1</th><th scope=\"colgroup\" colspan=\"3\">above "
        "2^31-1</th><th scope=\"colgroup\" colspan=\"4\">above 2^32-1</th></tr>\n<tr>",
        escaped(variant));
    for (const Column& column : columns()) html += "<th scope=\"col\">" + column.place + "</th>";
    html += "</tr>\n</thead>\n<tbody>\n";
    for (const auto& [row_name, row] : rows) {
      html += "<tr><th scope=\"row\">" + escaped(row_name) + "</th>";
      for (size_t i = 0; i < row.size(); ++i) {
        html += field_html(row[i], fmt::format("{}, offsets {}, {}", row_name, columns()[i].range, columns()[i].place));
      }
      html += "</tr>\n";
    }
    html += "</tbody>\n</table>\n</div>\n";
  }
  if (!others.empty()) {
    html += fmt::format("<p>Never examined here: {}.</p>\n", escaped(fmt::format("{}", fmt::join(others, ", "))));
  }
  if (!report.exclusions.empty()) {
    html += "<details>\n<summary>Combinations that are no cells, and why</summary>\n<ul>\n";
    for (const std::string& line : report.exclusions) html += "<li>" + escaped(line) + "</li>\n";
    html += "</ul>\n</details>\n";
  }
  return html;
}

}  // namespace brink
