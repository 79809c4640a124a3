#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "properties/closed_form.h"

namespace brink {

/// The value that element `n` of input `tensor` (0: x or grad; 1: output) has in memory.
using InputValue = std::function<double(int tensor, int64_t n)>;

/// The bits that the operation of `form` writes to each element of a column of `length` elements whose element `d` is
/// read at `address_of(d)`: a linear element index; outside the tensor it reads NaN. Runs the kernels' own column code.
/// `input` is the form's own where memory holds all of it.
std::vector<uint64_t> column_values(const ClosedForm& form, int64_t length,
                                    const std::function<int64_t(int64_t d)>& address_of, const InputValue& input = {});

/// The same for position `own` alone.
uint64_t column_value(const ClosedForm& form, int64_t length, int64_t own,
                      const std::function<int64_t(int64_t d)>& address_of);

/// The bits of the closed form's answer at element `n`.
uint64_t expected_bits(const ClosedForm& form, int64_t n);

/// The value of an element's bits.
double value_of_bits(DType dtype, uint64_t bits);

/// Whether two elements hold the same value: bit for bit, but for the sign of zero. NaN is equal to nothing.
bool same_value(DType dtype, uint64_t a, uint64_t b);

}  // namespace brink
