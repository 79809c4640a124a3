#include "fuzz/parser_check.h"

#include <fmt/format.h>

#include "fuzz/case_bytes.h"
#include "properties/case.h"
#include "properties/finding.h"

namespace brink {

namespace {

std::string refusal_problem(std::string_view parser, const std::string& message) {
  if (message.empty()) return fmt::format("{}: a refusal without a word", parser);
  if (message.find('\n') != std::string::npos) return fmt::format("{}: a refusal of several lines", parser);
  return "";
}

std::string case_problem(std::string_view text) {
  const auto parsed = parse_case(text);
  if (const auto* message = std::get_if<std::string>(&parsed)) return refusal_problem("case", *message);
  const Case& c = std::get<Case>(parsed);
  if (const std::string error = validate(c); !error.empty()) return "case: accepted, though invalid: " + error;
  const auto again = parse_case(to_text(c));
  if (!std::holds_alternative<Case>(again) || std::get<Case>(again) != c) return "case: its text is another case";
  if (decode(encode(c)) != c) return "case: its bytes are another case";
  return "";
}

std::string finding_problem(std::string_view text) {
  const auto parsed = parse_finding(text);
  if (const auto* message = std::get_if<std::string>(&parsed)) return refusal_problem("finding", *message);
  const std::string written = to_text(std::get<Finding>(parsed));
  const auto again = parse_finding(written);
  if (!std::holds_alternative<Finding>(again)) return "finding: its text is refused: " + std::get<std::string>(again);
  if (to_text(std::get<Finding>(again)) != written) return "finding: its text is another finding";
  return "";
}

}  // namespace

std::string parser_problem(std::string_view text) {
  // One line for each parser of files.
  for (const auto& problem : {case_problem, finding_problem}) {
    if (std::string line = problem(text); !line.empty()) return line;
  }
  return "";
}

}  // namespace brink
