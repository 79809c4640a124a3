#pragma once

#include <optional>
#include <string>

namespace brink {

/// Reads a whole text as a finite number; nothing for anything else.
std::optional<double> parse_number(const std::string& text);

}  // namespace brink
