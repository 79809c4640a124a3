#include "properties/finding.h"

#include <fmt/format.h>

#include <cctype>

#include "properties/json_fields.h"
#include "properties/json_text.h"

namespace brink {

using Json = nlohmann::ordered_json;

std::string cause_of(const Examination& e) {
  const std::string_view expression =
      e.prediction.first_overflow ? name_of(e.prediction.first_overflow->overflow.expression) : "none";
  std::string_view width = e.observed.index_type ? name_of(*e.observed.index_type) : "";
  if (!e.observed.index_type && e.prediction.index_type) width = name_of(*e.prediction.index_type);
  return fmt::format("{} {} {} {} {}{}", name_of(e.c.operation), name_of(e.observed.path), width, expression,
                     name_of(e.observed.verdict), e.differences.empty() ? "" : ", not as predicted");
}

Finding finding_of(const Examination& e, Device device, Role role, std::vector<std::string> lines) {
  Finding finding;
  finding.cause = cause_of(e);
  finding.smallest = e.c;
  finding.device = device;
  finding.role = role;
  finding.limits = limits_behind(e.limits, e.observed.verdict);
  finding.lines = std::move(lines);
  finding.prediction = to_json(static_cast<const Outcome&>(e.prediction));
  finding.observation = to_json(e.observed);
  return finding;
}

std::string repeat_command(const Finding& finding) {
  return repeat_command(finding.smallest, name_of(finding.device)) + limit_options(finding.limits);
}

std::string file_name_of(std::string_view cause) {
  std::string name;
  for (const char c : cause) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (plain || (!name.empty() && name.back() != '-')) name.push_back(plain ? c : '-');
  }
  return name;
}

std::string to_text(const Finding& finding) {
  Json j;
  j["brink_finding"] = 1;
  j["cause"] = finding.cause;
  j["count"] = finding.count;
  j["device"] = name_of(finding.device);
  j["role"] = name_of(finding.role);
  j["case"] = Json::parse(to_text(finding.smallest));
  j["lines"] = finding.lines;
  j["prediction"] = finding.prediction;
  j["observation"] = finding.observation;
  put_limits(j, finding.limits);
  j["repeat"] = repeat_command(finding);
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

// The outcomes are kept as they are: they are for people and reports, a repetition makes its own.
Finding read_finding(const Json& j) {
  require_version_1(j, "brink_finding", "finding");
  Finding finding;
  finding.cause = text_field(j, "cause");
  finding.count = count_field(j, "count", 1);
  finding.device = device_field(j, "device");
  const std::string role = text_field(j, "role");
  if (role != name_of(Role::kUser) && role != name_of(Role::kSelfCheck)) {
    throw std::string(fmt::format("field \"role\": unknown value {}", shown(role)));
  }
  finding.role = role == name_of(Role::kUser) ? Role::kUser : Role::kSelfCheck;
  finding.smallest = case_field(j, "case");
  const Json& lines = json_field(j, "lines");
  if (!lines.is_array()) throw std::string("field \"lines\" is not an array");
  for (const Json& line : lines) {
    if (!line.is_string()) throw std::string("field \"lines\" has a value that is not a string");
    finding.lines.push_back(line.get<std::string>());
  }
  finding.prediction = outcome_field(j, "prediction");
  finding.observation = outcome_field(j, "observation");
  finding.limits = limits_field(j);
  return finding;
}

}  // namespace

std::variant<Finding, std::string> parse_finding(std::string_view text) {
  return parse_as<Finding>(text, read_finding);
}

}  // namespace brink
