#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "kernels/index/checked.h"
#include "properties/audit.h"
#include "properties/json_text.h"
#include "properties/memory_needed.h"
#include "properties/number_text.h"

namespace brink {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFields[] = {"name",   "operation", "shape",    "axis",     "dtype",    "memory_guard",
                                        "arrays", "inputs",    "compared", "expected", "tolerance"};

// A field's value as text, so that CSV and JSON are read alike: an array's items are separated by commas.
std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& item : value)
    text += (text.empty() ? "" : ",") + (item.is_string() ? item.get<std::string>() : item.dump());
  return text;
}

std::vector<std::string> split(const std::string& text, std::string_view separators) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t end = std::min(text.find_first_of(separators, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (end == text.size()) return parts;
    begin = end + 1;
  }
}

int64_t integer(const std::string& text) {
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || text.empty()) {
    throw fmt::format("\"{}\" is not a 64-bit integer", text);
  }
  return value;
}

double number(const std::string& text) {
  const auto value = parse_number(text);
  if (!value) throw fmt::format("\"{}\" is not a number", text);
  return *value;
}

int64_t item_bytes_of(const std::string& dtype) {
  if (const auto known = parse_dtype(dtype)) return size_of(*known);
  for (const auto& [bits, bytes] : {std::pair{"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}}) {
    if (dtype == std::string("u") + bits || dtype == std::string("i") + bits) return bytes;
  }
  throw fmt::format("unknown value \"{}\"; expected f16, bf16, f32, f64, or an integer such as u8 or i64", dtype);
}

// "20GiB skip", "20GiB pass", "pass"
void read_guard(const std::string& text, AuditedTest& test) {
  for (const std::string& word : split(text, " ")) {
    if (word == "skip" || word == "pass") {
      test.without = word == "skip" ? WithoutMemory::kSkips : WithoutMemory::kPasses;
      continue;
    }
    test.guard = parse_bytes(word);
    if (!test.guard) {
      throw fmt::format("\"{}\": expected bytes such as 20GiB, then skip or pass for what happens without them", text);
    }
  }
}

void read_compared(const std::string& text, int64_t numel, AuditedTest& test) {
  test.says_compared = true;
  std::vector<Interval> places;
  const auto add = [&](int64_t first, int64_t last) {
    if (first < 0 || last >= numel || first > last) {
      throw fmt::format("{}..{} is not within the {} elements", first, last, numel);
    }
    places.push_back({first, last});
  };
  for (const std::string& word : split(text, ",;")) {
    if (word == "sum") {
      test.compares_sum = true;
    } else if (word == "all") {
      add(0, numel - 1);
    } else if (word == "first") {
      add(0, 0);
    } else if (word == "last") {
      add(numel - 1, numel - 1);
    } else if (word.starts_with("element:")) {
      const int64_t element = integer(word.substr(8));
      add(element, element);
    } else if (const size_t dots = word.find(".."); dots != std::string::npos) {
      add(integer(word.substr(0, dots)), integer(word.substr(dots + 2)));
    } else {
      throw fmt::format("\"{}\" is not one of all, first, last, sum, element:N, FIRST..LAST", word);
    }
  }
  test.compared = normalized(std::move(places));
}

AuditedTest read_test(const Json& row, const std::string& where, bool is_text) {
  AuditedTest test;
  test.where = where;
  const char* field = "";
  try {
    const auto value = [&](const char* name) -> std::optional<std::string> {
      field = name;
      const auto found = row.find(name);
      if (found == row.end() || (is_text && found->get<std::string>().empty())) return std::nullopt;
      if (found->is_object() || found->is_null() || found->is_boolean()) {
        throw fmt::format("{} is no value for it", shown(*found));
      }
      return text_of(*found);
    };
    const auto required = [&](const char* name) {
      auto text = value(name);
      if (!text || text->empty()) throw std::string("is missing");
      return *text;
    };
    test.name = required("name");
    test.where += fmt::format(" ({})", test.name);
    test.operation = required("operation");
    test.known = parse_operation(test.operation);
    for (const std::string& size : split(required("shape"), ",x")) test.shape.push_back(integer(size));
    if (const auto axis = value("axis")) test.axis = integer(*axis);
    const auto shape = decompose(test.shape, test.axis);
    if (const auto* error = std::get_if<std::string>(&shape)) throw *error;
    test.dtype = required("dtype");
    test.item_bytes = item_bytes_of(test.dtype);
    if (test.known && !parse_dtype(test.dtype)) {
      throw fmt::format("{} is not a type of {}", test.dtype, test.operation);
    }
    test.arrays = test.known ? 1 + input_count(*test.known) : 1;
    if (const auto arrays = value("arrays")) test.arrays = integer(*arrays);
    const int64_t numel = std::get<Decomposition>(shape).numel();
    const auto bytes = checked_mul(numel, test.item_bytes);
    if (test.arrays < 0 || !bytes || !checked_mul(*bytes, test.arrays)) {
      throw fmt::format("{} arrays of {} elements: their bytes overflow int64", test.arrays, numel);
    }
    if (const auto guard = value("memory_guard")) read_guard(*guard, test);
    if (const auto inputs = value("inputs")) {
      if (*inputs != "constant" && *inputs != "random" && *inputs != "coded") {
        throw fmt::format("\"{}\" is not one of constant, random, coded", *inputs);
      }
      test.constant_inputs = *inputs == "constant";
    }
    if (const auto compared = value("compared"); compared && numel > 0) read_compared(*compared, numel, test);
    if (const auto expected = value("expected")) {
      if (*expected == "each_other") {
        test.compares_with_itself = true;
      } else if (*expected != "reference") {
        test.expected = number(*expected);
      }
    }
    if (const auto tolerance = value("tolerance")) {
      test.tolerance = number(*tolerance);
      if (test.tolerance < 0) throw fmt::format("{} is negative", *tolerance);
    }
  } catch (const std::string& message) {
    throw fmt::format("{}: field \"{}\": {}", test.where, field, message);
  }
  for (const auto& item : row.items()) {
    if (std::find(std::begin(kFields), std::end(kFields), item.key()) == std::end(kFields)) {
      throw fmt::format("{}: field {} is not known", test.where, shown(item.key()));
    }
  }
  return test;
}

AuditFile read_json(std::string_view text) {
  const auto parsed = parse_json(text);
  if (const auto* error = std::get_if<std::string>(&parsed)) throw *error;
  const Json& json = std::get<Json>(parsed);
  const auto version = json.find("brink_audit");
  if (!json.is_object() || version == json.end()) throw std::string("field \"brink_audit\" is missing");
  if (*version != 1) throw fmt::format("audit version {} is not known; this brink reads version 1", shown(*version));
  const auto tests = json.find("tests");
  if (tests == json.end() || !tests->is_array()) throw std::string("field \"tests\" must be an array");
  AuditFile file;
  for (const auto& item : json.items()) {
    if (item.key() == "suite" && item.value().is_string()) {
      file.suite = item.value().get<std::string>();
    } else if (item.key() != "brink_audit" && item.key() != "tests" && item.key() != "sources") {
      throw fmt::format("field {} is not known or of the wrong kind", shown(item.key()));
    }
  }
  for (const Json& test : *tests) {
    const std::string where = fmt::format("test {}", file.tests.size() + 1);
    if (!test.is_object()) throw fmt::format("{} is not an object", where);
    file.tests.push_back(read_test(test, where, false));
  }
  return file;
}

// The cells of one line; a quoted cell may hold commas, and quotes as two quotes.
std::vector<std::string> csv_cells(const std::string& line, const std::string& where) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        cells.back() += c;
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  if (quoted) throw fmt::format("{}: a quote is not closed", where);
  return cells;
}

AuditFile read_csv(std::string_view text) {
  AuditFile file;
  std::vector<std::string> columns;
  int number = 0;
  for (std::string& line : split(std::string(text), "\n")) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    const std::string where = fmt::format("line {}", number);
    const std::vector<std::string> cells = csv_cells(line, where);
    if (columns.empty()) {
      columns = cells;
      for (const std::string& column : columns) {
        if (std::find(std::begin(kFields), std::end(kFields), column) == std::end(kFields)) {
          throw fmt::format("{}: column \"{}\" is not known; expected some of {}", where, column,
                            fmt::join(kFields, ", "));
        }
        if (std::count(columns.begin(), columns.end(), column) > 1) {
          throw fmt::format("{}: column \"{}\" appears twice", where, column);
        }
      }
      continue;
    }
    if (cells.size() != columns.size()) {
      throw fmt::format("{}: {} cells where the first line names {} columns", where, cells.size(), columns.size());
    }
    Json row = Json::object();
    for (size_t i = 0; i < cells.size(); ++i) row[columns[i]] = cells[i];
    file.tests.push_back(read_test(row, where, true));
  }
  return file;
}

}  // namespace

std::variant<AuditFile, std::string> parse_audit(std::string_view text) {
  try {
    const size_t begin = text.find_first_not_of(" \t\r\n");
    AuditFile file = begin != std::string_view::npos && text[begin] == '{' ? read_json(text) : read_csv(text);
    if (file.tests.empty()) throw std::string("no tests in it");
    return file;
  } catch (const std::string& message) {
    return message;
  }
}

}  // namespace brink
