#pragma once

#include <string>
#include <vector>

namespace brink {

/// One of brink's checks in a quick form: what it found wrong first, in one line, or an empty string.
struct Check {
  const char* name;
  std::string (*run)();
};

/// Runs a check; what it throws is a problem too.
std::string problem_of(const Check& check);

/// All checks, the quickest to find something first.
const std::vector<Check>& all_checks();

}  // namespace brink
