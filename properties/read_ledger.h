#pragma once

#include <string>

#include "properties/summary.h"

namespace brink {

/// Counts every line of a ledger. Blank lines are nothing; a line that was cut off (a last one without a newline, or
/// one that ends in kTornMark) counts as torn; one that cannot be read is broken, its message says "FILE:LINE: what",
/// and the rest is still counted. Works in pieces, on two threads, in memory that does not grow with the file. Returns
/// why the file itself cannot be read, or an empty string.
std::string read_ledger(const std::string& path, Summary& summary);

}  // namespace brink
