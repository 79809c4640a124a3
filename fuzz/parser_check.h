#pragma once

#include <string>
#include <string_view>

namespace brink {

/// Gives a text to every parser that reads a file. What one accepts must read back the same from what is written for
/// it, and a refusal must be one line. What is wrong first, in one line, or an empty string.
std::string parser_problem(std::string_view text);

}  // namespace brink
