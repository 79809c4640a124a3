#include "fuzz/finding_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <tuple>

#include "properties/json_text.h"
#include "properties/simplicity.h"
#include "properties/whole_file.h"

namespace brink {

using Json = nlohmann::ordered_json;

namespace {

constexpr size_t kFileMax = size_t{64} << 20;

auto size_order(const Case& c) { return std::tuple(simplicity(c), to_text(c)); }

}  // namespace

void add_to(FindingGroups& groups, const Finding& finding) {
  const auto [group, is_new] = groups.try_emplace(finding.cause, finding);
  if (is_new) return;
  const int64_t count = group->second.count + finding.count;
  if (size_order(finding.smallest) < size_order(group->second.smallest)) group->second = finding;
  group->second.count = count;
}

std::string to_text(const FindingGroups& groups) {
  Json j;
  j["brink_findings"] = 1;
  j["findings"] = Json::array();
  for (const auto& [cause, finding] : groups) j["findings"].push_back(Json::parse(to_text(finding)));
  return j.dump(1) + "\n";
}

std::variant<FindingGroups, std::string> parse_finding_groups(std::string_view text) {
  const auto json = parse_json(text);
  if (const auto* error = std::get_if<std::string>(&json)) return *error;
  const Json& j = std::get<Json>(json);
  if (!j.is_object() || !j.contains("brink_findings") || j["brink_findings"] != 1) {
    return "not a file of findings (\"brink_findings\": 1)";
  }
  if (!j.contains("findings") || !j["findings"].is_array()) return "field \"findings\" is not an array";
  FindingGroups groups;
  for (const Json& entry : j["findings"]) {
    const auto finding = parse_finding(entry.dump(-1, ' ', false, Json::error_handler_t::replace));
    if (const auto* error = std::get_if<std::string>(&finding)) {
      return fmt::format("finding {}: {}", groups.size() + 1, *error);
    }
    add_to(groups, std::get<Finding>(finding));
  }
  return groups;
}

std::string FindingStore::load() {
  if (access(path_.c_str(), F_OK) != 0) return "";
  std::string text;
  if (std::string error = read_whole(path_, text, kFileMax); !error.empty()) return error;
  auto groups = parse_finding_groups(text);
  if (const auto* error = std::get_if<std::string>(&groups)) return fmt::format("{}: {}", path_, *error);
  groups_ = std::move(std::get<FindingGroups>(groups));
  return "";
}

std::string FindingStore::add(const Finding& finding) {
  const bool is_new = groups_.count(finding.cause) == 0;
  add_to(groups_, finding);
  return write_whole(path_, to_text(groups_), is_new);
}

}  // namespace brink
