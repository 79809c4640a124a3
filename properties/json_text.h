#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

namespace brink {

/// Reads JSON; a key that an object has twice is an error, as only one of its values could count. The error is one
/// line.
std::variant<nlohmann::ordered_json, std::string> parse_json(std::string_view text);

/// Reads text as JSON and that as a T; what `read` throws as a std::string is the error, one line.
template <class T, class Read>
std::variant<T, std::string> parse_as(std::string_view text, const Read& read) {
  const auto json = parse_json(text);
  if (const auto* error = std::get_if<std::string>(&json)) return *error;
  try {
    return read(std::get<nlohmann::ordered_json>(json));
  } catch (const std::string& message) {
    return message;
  } catch (const nlohmann::json::exception& e) {  // text in it that is not UTF-8
    return std::string("not JSON: ") + e.what();
  }
}

/// A value from a file as part of a one-line message, however long or deep it is.
std::string shown(const nlohmann::ordered_json& value);

}  // namespace brink
