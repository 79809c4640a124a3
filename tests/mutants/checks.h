#pragma once

#include <string>

// The checks that mutants are shown to. Each returns what it found wrong first, in one line, or an empty string. None
// knows of any mutant: each states something that brink promises.

namespace brink {

// arithmetic_checks.cpp
std::string shapes_are_split_at_their_axis();
std::string boxes_hold_the_elements_of_their_intervals();
std::string traced_integers_agree_with_plain_ones();
std::string aliased_periods_keep_wrapped_addresses_apart();
std::string known_overflows_are_named();

// kernel_checks.cpp
std::string operations_agree_with_plain_loops();
std::string memory_notes_what_lies_outside();
std::string closed_forms_tell_wrapped_addresses_apart();
std::string closed_forms_are_the_operations_answers();
std::string largest_index_values_are_those_of_the_expressions();
std::string narrow_indices_are_chosen_where_they_fit_both_directions();
std::string launches_for_small_devices_are_right();
std::string launches_hold_every_property_on_simulated_devices();

// narrow_checks.cpp
std::string narrow_runs_are_as_predicted();

// comparison_checks.cpp
std::string planted_differences_are_reported();
std::string planted_outcomes_are_findings();
std::string exit_status_tells_what_is_missing();

// evidence_checks.cpp
std::string reports_are_no_better_than_what_ran();
std::string kernels_say_what_ran();

// case_checks.cpp
std::string windows_show_what_they_must();
std::string known_cells_are_reached();
std::string known_matrix_cells_are_reached();
std::string known_tests_are_judged();
std::string true_width_cases_are_as_predicted();
std::string generated_cases_are_as_predicted();

// fuzz_checks.cpp
std::string bytes_are_the_case();
std::string mutations_cross_boundaries_within_their_limits();
std::string counters_tell_the_sides_of_a_boundary_apart();
// shrink_checks.cpp
std::string shrinking_keeps_the_cause();
std::string replays_notice_what_changed();

}  // namespace brink
