#include "properties/json_text.h"

#include <fmt/format.h>

#include <set>
#include <vector>

namespace brink {

using Json = nlohmann::ordered_json;

std::string shown(const Json& value) {
  constexpr size_t kMost = 60;
  if (value.is_structured()) return fmt::format("an {}", value.type_name());
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

std::variant<Json, std::string> parse_json(std::string_view text) {
  std::vector<std::set<std::string>> open_objects;
  std::string twice;
  const Json::parser_callback_t notice_keys = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key && !open_objects.back().insert(value.get<std::string>()).second) {
      if (twice.empty()) twice = shown(value);
    }
    return true;
  };
  try {
    Json value = Json::parse(text, notice_keys);
    if (!twice.empty()) return fmt::format("field {} appears twice", twice);
    return value;
  } catch (const nlohmann::json::exception& e) {
    const std::string_view text_of_error = e.what();
    const size_t after_tag = text_of_error.find("] ");
    return fmt::format("not JSON: {}",
                       after_tag == std::string_view::npos ? text_of_error : text_of_error.substr(after_tag + 2));
  }
}

}  // namespace brink
