#include "fuzz/parser_check.h"

#include <fmt/format.h>

#include "fuzz/case_bytes.h"
#include "fuzz/finding_store.h"
#include "fuzz/job_progress.h"
#include "properties/case.h"
#include "properties/finding.h"

namespace brink {

namespace {

std::string refusal_problem(std::string_view parser, const std::string& message) {
  if (message.empty()) return fmt::format("{}: a refusal without a word", parser);
  if (message.find('\n') != std::string::npos) return fmt::format("{}: a refusal of several lines", parser);
  return "";
}

// A case is compared as such, and in its binary form too.
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

// For what can be compared by its text alone.
template <class T, class Parse>
std::string text_problem(std::string_view parser, std::string_view text, const Parse& parse) {
  const auto parsed = parse(text);
  if (const auto* message = std::get_if<std::string>(&parsed)) return refusal_problem(parser, *message);
  const std::string written = to_text(std::get<T>(parsed));
  const auto again = parse(written);
  if (const auto* message = std::get_if<std::string>(&again)) {
    return fmt::format("{}: its text is refused: {}", parser, *message);
  }
  return to_text(std::get<T>(again)) == written ? "" : fmt::format("{}: its text is another", parser);
}

}  // namespace

std::string parser_problem(std::string_view text) {
  // One line for each parser of files.
  for (const std::string& line : {case_problem(text), text_problem<Finding>("finding", text, parse_finding),
                                  text_problem<FindingGroups>("finding groups", text, parse_finding_groups),
                                  text_problem<JobProgress>("job progress", text, parse_job_progress)}) {
    if (!line.empty()) return line;
  }
  return "";
}

}  // namespace brink
