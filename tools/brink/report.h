#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "properties/matrix.h"
#include "properties/summary.h"

namespace brink {

/// What is known of a cell, the one that counts most first.
enum class Coverage {
  kFinding,      ///< reached, and failed
  kNotExecuted,  ///< a case was to reach it, and none that ran did
  kDefect,       ///< reached by known defects alone, which failed as predicted
  kRight,        ///< reached, and right
  kNever,        ///< a shape would reach it, and no case was to
  kUnreachable,  ///< no shape reaches it here
};
inline constexpr Coverage kCoverages[] = {Coverage::kFinding, Coverage::kNotExecuted, Coverage::kDefect,
                                          Coverage::kRight,   Coverage::kNever,       Coverage::kUnreachable};

/// The symbol and the words for it.
std::string_view symbol_of(Coverage state);
std::string_view words_for(Coverage state);
/// A name for programs and style sheets, such as "not_executed".
std::string_view name_of(Coverage state);

/// A known cell, or one of a scale model, in the words of to_text(Cell).
struct ReportedCell {
  Coverage state = Coverage::kNever;
  std::string reason;  ///< why it was not executed or is unreachable
};

/// One cause of failure, with its smallest case.
struct ReportedFinding {
  std::string cause;
  int64_t count = 0;
  nlohmann::ordered_json evidence;
};

/// Everything that is shown of ledgers, in whichever form.
struct Report {
  std::vector<std::string> ledgers;
  std::string version;
  Summary summary;
  std::map<std::string, ReportedCell> matrix;  ///< in the words of to_text(MatrixCell)
  std::vector<std::string> exclusions;         ///< combinations that are no cells of the matrix, and why
  std::map<std::string, ReportedCell> cells;
  std::map<Coverage, int64_t> cell_counts;
  std::vector<ReportedFinding> findings;  ///< most cases first
  int status = 0;                         ///< exit status
};

/// Counts and names what `summary`, which is finished, has.
Report make_report(std::vector<std::string> ledgers, std::string version, Summary summary);

/// What a reader has to know first, most important first: a word for how it went, then what failed, what was not
/// executed and what could not be read.
struct Headline {
  std::string word;  ///< FAILED, NOT EXECUTED, INCOMPLETE or OK
  std::vector<std::string> lines;
};
Headline headline(const Report& report);

/// 1234567 as 1,234,567.
std::string grouped(int64_t number);
/// "1 case", "2 cases".
std::string count_of(int64_t count, std::string_view one, std::string_view many);
/// Text for HTML and XML.
std::string escaped(std::string_view text);

/// One self-contained page: no script, nothing from the network.
std::string report_html(const Report& report);
/// The address line of a finding as SVG: rows as bars, 2^31 and 2^32, and where the first overflow lands.
std::string address_line_svg(const nlohmann::ordered_json& evidence);
/// The matrix as tables that show at a glance what was reached, what failed and where the holes are.
std::string matrix_html(const Report& report);
/// The cells as tables of small pictures.
std::string cells_html(const Report& report);
std::string report_json(const Report& report);
/// What must have run and did not is an error there, never "skipped".
std::string report_junit(const Report& report);
/// Short enough for a comment.
std::string report_markdown(const Report& report);

}  // namespace brink
