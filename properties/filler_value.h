#pragma once

#include <cstdint>

#include "properties/closed_form.h"

namespace brink {

/// What a filler holds at element `n` of input `tensor`: the form's value of an element that is not hot and has this
/// residue modulo the prime. Softmax forward's levels follow the column, which a filler cannot: it holds low values
/// there, which no such column does.
BRINK_HOST_DEVICE inline double filler_value(const ClosedForm& form, int tensor, int64_t n) {
  ClosedForm column = form;
  column.shape.outer_size = 1;
  column.shape.dim_size = int64_t{1} << 60;  // one endless column: hot at its first or last element alone
  column.shape.inner_size = 1;
  return column.input(tensor, n + column.prime);
}

}  // namespace brink
