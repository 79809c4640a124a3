#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "properties/examine.h"

namespace brink {

/// What failing cases have in common, as text: operation, path, index type, first expression to overflow, verdict, and
/// whether prediction and observation differ. For example "softmax_backward spatial u32 element_offset mismatch".
std::string cause_of(const Examination& examination);

/// Cases that failed for one cause, with one of them. Its text form is a JSON object, version 1; see finding.cpp.
// nlohmann's noexcept move has checks that could throw.
// NOLINTNEXTLINE(bugprone-exception-escape)
struct Finding {
  std::string cause;
  int64_t count = 1;  ///< cases seen with this cause
  Case smallest;
  Device device = Device::kHost;
  Role role = Role::kUser;
  RunLimits limits;                ///< the usual ones but for the one behind the verdict
  std::vector<std::string> lines;  ///< why it is a finding
  nlohmann::ordered_json prediction;
  nlohmann::ordered_json observation;
};

/// `lines` are those of findings(examination, role).
Finding finding_of(const Examination& examination, Device device, Role role, std::vector<std::string> lines);

/// The command line that repeats the finding.
std::string repeat_command(const Finding& finding);

/// The cause as a file name without an ending: letters, digits, '_' and '-'.
std::string file_name_of(std::string_view cause);

/// JSON text with a newline at its end.
std::string to_text(const Finding& finding);

/// Reads a finding; the error is one line that names the field.
std::variant<Finding, std::string> parse_finding(std::string_view text);

}  // namespace brink
