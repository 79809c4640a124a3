#include "properties/json_fields.h"

#include <fmt/format.h>

#include "properties/json_text.h"

namespace brink {

using Json = nlohmann::ordered_json;

const Json& json_field(const Json& j, const char* name) {
  const auto found = j.find(name);
  if (found == j.end()) throw std::string(fmt::format("field \"{}\" is missing", name));
  return *found;
}

std::string text_field(const Json& j, const char* name) {
  const Json& value = json_field(j, name);
  if (!value.is_string()) throw std::string(fmt::format("field \"{}\" is not a string", name));
  return value.get<std::string>();
}

int64_t count_field(const Json& j, const char* name, int64_t least) {
  const Json& value = json_field(j, name);
  if (!value.is_number_integer() || value < least || value > INT64_MAX) {
    throw std::string(fmt::format("field \"{}\": {} is not a number of at least {}", name, shown(value), least));
  }
  return value.get<int64_t>();
}

bool bool_field(const Json& j, const char* name) {
  const Json& value = json_field(j, name);
  if (!value.is_boolean()) throw std::string(fmt::format("field \"{}\" is not true or false", name));
  return value.get<bool>();
}

Case case_field(const Json& j, const char* name) {
  auto parsed = parse_case(json_field(j, name).dump());
  if (const auto* error = std::get_if<std::string>(&parsed)) throw std::string(fmt::format("{}: {}", name, *error));
  return std::get<Case>(parsed);
}

Device device_field(const Json& j, const char* name) {
  const std::string device = text_field(j, name);
  for (const Device known : {Device::kHost, Device::kCuda}) {
    if (name_of(known) == device) return known;
  }
  throw std::string(fmt::format("field \"{}\": unknown value {}", name, shown(device)));
}

const Json& outcome_field(const Json& j, const char* name) {
  const Json& value = json_field(j, name);
  const bool has_verdict = value.is_object() && value.contains("verdict") && value["verdict"].is_string();
  if (!has_verdict) throw std::string(fmt::format("field \"{}\" has no verdict", name));
  return value;
}

RunLimits limits_field(const Json& j) {
  RunLimits limits;
  if (!j.contains("limits")) return limits;
  const Json& field = j.at("limits");
  if (!field.is_object()) throw std::string("field \"limits\" is not an object");
  const Json& seconds = json_field(field, "seconds");
  if (!seconds.is_number() || !(seconds.get<double>() > 0)) {
    throw std::string("field \"seconds\" is not a positive number");
  }
  limits.seconds = seconds.get<double>();
  limits.memory = count_field(field, "memory", 1);
  return limits;
}

void put_limits(Json& j, const RunLimits& limits) {
  if (limits != RunLimits()) j["limits"] = {{"seconds", limits.seconds}, {"memory", limits.memory}};
}

void require_version_1(const Json& j, const char* version_name, const char* what) {
  if (!j.is_object()) throw std::string(fmt::format("a {} is a JSON object", what));
  if (const Json& version = json_field(j, version_name); version != 1) {
    throw std::string(fmt::format("{} version {} is not known; this brink reads version 1", what, shown(version)));
  }
}

}  // namespace brink
