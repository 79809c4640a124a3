#pragma once

#include <string>
#include <vector>

#include "kernels/execution/interval.h"
#include "properties/closed_form.h"
#include "properties/column_value.h"

namespace brink {

/// The elements of the inputs that aliased memory must really hold: the windows, and in each window's columns the rows
/// that the filler cannot stand for. Sorted and disjoint.
std::vector<Interval> input_windows(const ClosedForm& form, const std::vector<Interval>& windows);

/// The inputs as a GPU's aliased memory holds them: the form's where a page has memory of its own for `windows`, which
/// are input_windows()', and the filler's elsewhere.
InputValue aliased_input(const ClosedForm& form, const std::vector<Interval>& windows);

/// Why aliased memory cannot hold this closed form, or an empty string.
std::string aliased_refusal(const ClosedForm& form);

}  // namespace brink
