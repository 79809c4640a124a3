#pragma once

#include <string>

#include "properties/examine.h"

namespace brink {

/// One line that names a case: operation, shape, axis, dtype, implementation.
std::string describe(const Case& c);

/// A prediction in a few lines for a person.
std::string describe(const Case& c, const Decomposition& shape, const Prediction& prediction);

/// Prediction beside observation, for a person.
std::string describe(const Examination& examination);

/// The same for a program: case, prediction, observation, differences.
nlohmann::ordered_json to_json(const Examination& examination, Role role);

/// Bytes in words, such as 8.0 GiB.
std::string bytes_text(double bytes);

}  // namespace brink
