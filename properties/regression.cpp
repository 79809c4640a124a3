#include "properties/regression.h"

#include <fmt/format.h>

#include <filesystem>

#include "properties/finding.h"
#include "properties/json_fields.h"
#include "properties/json_text.h"
#include "properties/whole_file.h"

namespace brink {

using Json = nlohmann::ordered_json;

Implementation right_sibling(const Implementation& i) {
  return {WidthRule::kSafe, i.scaled() ? i.index_type : IndexType::kI32, std::nullopt};
}

Regression regression_of(const Shrunk& shrunk, const Case& shrunk_from, Device device) {
  const Examination& e = shrunk.smallest;
  Regression r;
  r.name = file_name_of(shrunk.cause);
  // A fixed-width implementation's name is its path and index type, which the cause has.
  if (e.c.implementation.rule != WidthRule::kFixed) r.name += "-" + file_name_of(e.c.implementation.name());
  r.expression =
      name_of(e.prediction.first_overflow ? e.prediction.first_overflow->overflow.expression : Expression::kNone);
  r.c = e.c;
  r.device = device;
  r.expected = {{e.c.implementation, e.observed.verdict}};
  if (const Implementation right = right_sibling(e.c.implementation); right != e.c.implementation) {
    r.expected.emplace_back(right, Verdict::kOk);
  }
  r.limits = limits_behind(e.limits, e.observed.verdict);
  r.agree = e.differences.empty();
  r.prediction = to_json(static_cast<const Outcome&>(e.prediction));
  r.observation = to_json(e.observed);
  r.shrunk_from = shrunk_from;
  r.runs = shrunk.runs;
  return r;
}

std::string to_text(const Regression& r) {
  Json j;
  j["brink_regression"] = 1;
  j["name"] = r.name;
  j["comment"] = r.comment;
  j["expression"] = r.expression;
  j["case"] = Json::parse(to_text(r.c));
  j["device"] = name_of(r.device);
  j["expected"] = Json::object();
  for (const auto& [implementation, verdict] : r.expected) j["expected"][implementation.name()] = name_of(verdict);
  j["agree"] = r.agree;
  j["prediction"] = r.prediction;
  j["observation"] = r.observation;
  j["shrunk_from"] = Json::parse(to_text(r.shrunk_from));
  j["runs"] = r.runs;
  put_limits(j, r.limits);
  j["repeat"] = repeat_command(r.c, name_of(r.device)) + limit_options(r.limits);
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

Verdict verdict_named(const Json& value) {
  for (int v = 0; v <= static_cast<int>(Verdict::kNotExecuted); ++v) {
    if (value == name_of(static_cast<Verdict>(v))) return static_cast<Verdict>(v);
  }
  throw std::string(fmt::format("field \"expected\": unknown verdict {}", shown(value)));
}

Regression read_regression(const Json& j) {
  require_version_1(j, "brink_regression", "regression");
  Regression r;
  r.name = text_field(j, "name");
  r.comment = text_field(j, "comment");
  r.expression = text_field(j, "expression");
  r.c = case_field(j, "case");
  r.device = device_field(j, "device");
  const Json& expected = json_field(j, "expected");
  if (!expected.is_object()) throw std::string("field \"expected\" is not an object");
  for (const auto& item : expected.items()) {
    const auto implementation = parse_implementation(item.key());
    if (!implementation) {
      throw std::string(fmt::format("field \"expected\": unknown implementation {}", shown(item.key())));
    }
    r.expected.emplace_back(*implementation, verdict_named(item.value()));
  }
  if (r.expected.empty() || r.expected.front().first != r.c.implementation) {
    throw std::string(fmt::format("field \"expected\" does not begin with {}", r.c.implementation.name()));
  }
  r.limits = limits_field(j);
  r.agree = bool_field(j, "agree");
  r.prediction = outcome_field(j, "prediction");
  r.observation = outcome_field(j, "observation");
  r.shrunk_from = case_field(j, "shrunk_from");
  r.runs = count_field(j, "runs", 0);
  return r;
}

// What stands at `path`: nothing, this regression's case (then it may leave its comment), or something else.
enum class Standing { kNothing, kSameCase, kOther };

Standing what_stands_at(const std::string& path, Regression& r) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Standing::kNothing;
  std::string text;
  if (!read_whole(path, text).empty()) return Standing::kOther;
  const auto there = parse_regression(text);
  const auto* old = std::get_if<Regression>(&there);
  if (old == nullptr || old->c != r.c || old->device != r.device) return Standing::kOther;
  if (r.comment.empty()) r.comment = old->comment;
  return Standing::kSameCase;
}

}  // namespace

std::variant<Regression, std::string> parse_regression(std::string_view text) {
  return parse_as<Regression>(text, read_regression);
}

std::string write_regression(Regression r, std::string& path) {
  namespace fs = std::filesystem;
  const bool is_file = path.ends_with(".json");
  const fs::path folder = is_file ? fs::path(path).parent_path() : fs::path(path);
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) return fmt::format("{}: {}", folder.string(), error.message());
  if (is_file) {
    if (fs::is_directory(path, error)) return fmt::format("{}: is a folder, and its name ends in .json", path);
    r.name = fs::path(path).stem().string();
    if (what_stands_at(path, r) == Standing::kOther) return fmt::format("{}: holds another case", path);
    return write_whole(path, to_text(r));
  }
  const std::string name = r.name;
  for (int number = 1;; ++number) {
    if (number > 1) r.name = fmt::format("{}-{}", name, number);
    path = (folder / (r.name + ".json")).string();
    if (what_stands_at(path, r) != Standing::kOther) return write_whole(path, to_text(r));
  }
}

}  // namespace brink
