#pragma once

#include "properties/case.h"

namespace brink {

/// Sets the first prime of the case's closed form for which the prediction is exact (7 where none is). `c` is valid.
void choose_prime(Case& c);

}  // namespace brink
