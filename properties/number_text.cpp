#include "properties/number_text.h"

#include <cmath>
#include <exception>

namespace brink {

std::optional<double> parse_number(const std::string& text) {
  size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  if (used == 0 || used != text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace brink
