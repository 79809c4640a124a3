#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

namespace brink {

/// Reads JSON; a key that an object has twice is an error, as only one of its values could count. The error is one
/// line.
std::variant<nlohmann::ordered_json, std::string> parse_json(std::string_view text);

/// A value from a file as part of a one-line message, however long or deep it is.
std::string shown(const nlohmann::ordered_json& value);

}  // namespace brink
