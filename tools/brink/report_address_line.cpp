#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "properties/case.h"
#include "tools/brink/report.h"

namespace brink {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kWidth = 720;
constexpr double kLeft = 24;
constexpr double kRight = 24;
constexpr double kBarTop = 86;
constexpr double kBarHeight = 26;
constexpr double kMarksTop = kBarTop + kBarHeight + 6;
constexpr double kHeight = 190;
constexpr int64_t kBarsMost = 40;

// Element addresses from `first` to `last`, over the picture's width.
struct Scale {
  double first;
  double last;
  double x(double address) const { return kLeft + (address - first) / (last - first) * (kWidth - kLeft - kRight); }
};

const char* anchor(double x) { return x < kWidth * 0.3 ? "start" : x > kWidth * 0.7 ? "end" : "middle"; }

std::string bars(const Scale& scale, int64_t rows, int64_t row_size) {
  std::string svg;
  const double numel = static_cast<double>(rows) * static_cast<double>(row_size);
  if (rows > kBarsMost) {
    svg += fmt::format(R"(<rect class="row" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>)", scale.x(0), kBarTop,
                       scale.x(numel) - scale.x(0), kBarHeight);
    svg += "\n";
    return svg;
  }
  for (int64_t row = 0; row < rows; ++row) {
    const double x = scale.x(static_cast<double>(row) * static_cast<double>(row_size));
    const double end = scale.x(static_cast<double>(row + 1) * static_cast<double>(row_size));
    svg += fmt::format(R"(<rect class="row{}" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>)",
                       row % 2 == 0 ? "" : " odd", x, kBarTop, std::max(end - x - 1, 0.5), kBarHeight);
    svg += "\n";
  }
  return svg;
}

// A power of two that an index type's values end at.
std::string limit(const Scale& scale, int bits) {
  const double value = std::ldexp(1.0, bits);
  if (value < scale.first || value > scale.last) return "";
  const double x = scale.x(value);
  return fmt::format(R"(<line class="limit" x1="{0:.1f}" y1="{1}" x2="{0:.1f}" y2="{2}"/>
<text class="limit-name" x="{0:.1f}" y="{3}" text-anchor="{4}">2<tspan class="power" dy="-5">{5}</tspan></text>
)",
                     x, kBarTop - 8, kMarksTop + 26, kMarksTop + 44, anchor(x), bits);
}

std::string arrow(const Scale& scale, const std::string& exact, double from, int64_t to,
                  const std::string& expression) {
  const double x1 = scale.x(from);
  const double x2 = scale.x(static_cast<double>(to));
  const double top = kBarTop - 44;
  return fmt::format(
      R"svg(<path class="wrap" d="M{0:.1f} {2} C{0:.1f} {3},{1:.1f} {3},{1:.1f} {2}" marker-end="url(#tip)"/>
<circle class="should" cx="{0:.1f}" cy="{2}" r="3"/>
<text x="{0:.1f}" y="{4}" text-anchor="{5}">{6} = {7} should land here</text>
<text x="{1:.1f}" y="{4}" dy="{8}" text-anchor="{9}">lands at {10}</text>
)svg",
      x1, x2, kBarTop - 4, top, 18, anchor(x1), escaped(expression), exact,
      // Two labels that start near each other stand one below the other.
      std::string(anchor(x1)) == anchor(x2) ? 16 : 0, anchor(x2), to);
}

// What became of the elements of one set.
std::string marks(const Scale& scale, const Decomposition& s, const Json& outcome, const char* set, const char* symbol,
                  double y) {
  std::string svg;
  if (!outcome.contains(set)) return svg;
  for (const Json& box : outcome[set]["boxes"]) {
    const auto linear = [&](int end) {
      return (box.at(end).get<double>() * static_cast<double>(s.dim_size) + box.at(2 + end).get<double>()) *
                 static_cast<double>(s.inner_size) +
             box.at(4 + end).get<double>();
    };
    const double x = scale.x(linear(0));
    const double width = std::max(scale.x(linear(1)) - x, 1.0);
    svg += fmt::format(R"(<rect class="{}" x="{:.1f}" y="{}" width="{:.1f}" height="4"/>)", set, x - 1, y, width + 2);
    svg += fmt::format(R"(<text class="{} mark" x="{:.1f}" y="{}" text-anchor="middle">{}</text>)", set, x + width / 2,
                       y + 5, symbol);
    svg += "\n";
  }
  return svg;
}

}  // namespace

std::string address_line_svg(const Json& evidence) {
  const auto parsed = parse_case(evidence.at("case").dump());
  const auto* c = std::get_if<Case>(&parsed);
  if (c == nullptr) return "";
  const auto decomposed = decompose(*c);
  const auto* s = std::get_if<Decomposition>(&decomposed);
  if (s == nullptr || s->numel() == 0) return "";
  const int64_t row_size = s->inner_size > 1 ? s->inner_size : s->dim_size;
  const int64_t rows = s->numel() / row_size;

  const Json& predicted = evidence.at("predicted");
  const Json overflow = predicted.value("first_overflow", Json());
  const std::string exact = overflow.is_null() ? "" : overflow.at("exact").get<std::string>();
  const double from = exact.empty() ? 0 : std::strtod(exact.c_str(), nullptr);
  const int64_t to = exact.empty() ? 0 : overflow.at("wrapped").get<int64_t>();
  const auto numel = static_cast<double>(s->numel());
  // An overflow far behind the tensor, such as that of a loop counter, is told in words alone.
  const bool drawn = !exact.empty() && from >= 0 && from <= 2 * numel;
  const Json& observed = evidence.at("observed");
  const bool has_marks =
      observed.contains("wrong") || observed.contains("never_written") || observed.contains("contended");
  if (!drawn && !has_marks) return "";
  Scale scale{0, numel};
  if (drawn) scale = {std::min(0.0, static_cast<double>(to)), std::max(numel, from)};
  const double margin = (scale.last - scale.first) * 0.02;
  scale.last += margin;
  if (scale.first < 0) scale.first -= margin;

  std::string text = fmt::format("The tensor's {} elements on a line, {} of {}.", grouped(s->numel()),
                                 count_of(rows, "row", "rows"), grouped(row_size));
  if (!exact.empty()) {
    text += fmt::format(" The first overflow: {} is {} and becomes {}.", overflow.at("expression").get<std::string>(),
                        exact, to);
  }
  const double top = drawn ? 0 : kBarTop - 16;  // an arrow needs room above the bars
  const int bits = limits_of(c->implementation.index_type).bits;
  std::string svg = fmt::format(
      R"(<svg class="line" viewBox="0 {:.0f} {:.0f} {:.0f}" role="img" aria-label="{}">
)",
      top, kWidth, kHeight - top, escaped(text));
  svg += bars(scale, rows, row_size);
  for (const int power : bits >= 32 ? std::vector<int>{31, 32} : std::vector<int>{bits - 1, bits}) {
    svg += limit(scale, power);
  }
  svg += marks(scale, *s, observed, "wrong", "\u2717", kMarksTop);
  svg += marks(scale, *s, observed, "never_written", "\u25cb", kMarksTop + 9);
  svg += marks(scale, *s, observed, "contended", "\u2016", kMarksTop + 18);
  if (drawn) svg += arrow(scale, exact, from, to, overflow.at("expression").get<std::string>());
  svg += fmt::format(R"(<text class="axis" x="{:.1f}" y="{}" text-anchor="start">0</text>
<text class="axis" x="{:.1f}" y="{}" text-anchor="end">{} elements, {} of {}</text>
</svg>
)",
                     scale.x(0), kHeight - 8, kWidth - kRight, kHeight - 8, grouped(s->numel()),
                     count_of(rows, "row", "rows"), grouped(row_size));
  return svg;
}

}  // namespace brink
