#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "properties/shrink.h"

namespace brink {

/// The implementation that must be right where `i` is not: `dispatched`, or its scale model for a scale model.
Implementation right_sibling(const Implementation& i);

/// A failing case that is kept, with what it must go on doing. Its text form is a JSON object, version 1; see
/// regression.cpp.
// nlohmann's noexcept move has checks that could throw.
// NOLINTNEXTLINE(bugprone-exception-escape)
struct Regression {
  std::string name;
  std::string comment;     ///< such as the address of a report; for people
  std::string expression;  ///< the first to overflow
  Case c;
  Device device = Device::kHost;                             ///< that it was recorded on
  std::vector<std::pair<Implementation, Verdict>> expected;  ///< the case's own implementation first
  RunLimits limits;                                          ///< as a finding's
  bool agree = true;                                         ///< whether prediction and observation agreed
  nlohmann::ordered_json prediction;
  nlohmann::ordered_json observation;
  Case shrunk_from;
  int64_t runs = 0;  ///< that shrinking took
};

/// The regression of a shrunk case; it is expected to fail as it did, and its right sibling to be ok.
Regression regression_of(const Shrunk& shrunk, const Case& shrunk_from, Device device);

/// JSON text with a newline at its end.
std::string to_text(const Regression& regression);

/// Reads a regression; the error is one line that names the field.
std::variant<Regression, std::string> parse_regression(std::string_view text);

/// Writes the regression to `path`: a file where it ends in .json, else a folder (made where it is absent) that the
/// file is named in after the regression. A file of the same case is replaced and keeps its comment if the new one has
/// none. A file of another case is never replaced: in a folder the new one gets a number behind its name, elsewhere
/// that is the error. `path` becomes the file's path. Returns what went wrong, or an empty string.
std::string write_regression(Regression regression, std::string& path);

}  // namespace brink
