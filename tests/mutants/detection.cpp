#include "tests/mutants/detection.h"

#include <exception>

#include "tests/mutants/checks.h"

namespace brink {

std::string problem_of(const Check& check) {
  try {
    return check.run();
  } catch (const std::exception& e) {
    return e.what();
  }
}

const std::vector<Check>& all_checks() {
#define BRINK_CHECK(name) \
  { #name, name }
  static const std::vector<Check> checks = {
      BRINK_CHECK(shapes_are_split_at_their_axis),
      BRINK_CHECK(boxes_hold_the_elements_of_their_intervals),
      BRINK_CHECK(traced_integers_agree_with_plain_ones),
      BRINK_CHECK(aliased_periods_keep_wrapped_addresses_apart),
      BRINK_CHECK(known_overflows_are_named),
      BRINK_CHECK(memory_notes_what_lies_outside),
      BRINK_CHECK(operations_agree_with_plain_loops),
      BRINK_CHECK(launches_for_small_devices_are_right),
      BRINK_CHECK(launches_hold_every_property_on_simulated_devices),
      BRINK_CHECK(largest_index_values_are_those_of_the_expressions),
      BRINK_CHECK(closed_forms_tell_wrapped_addresses_apart),
      BRINK_CHECK(planted_differences_are_reported),
      BRINK_CHECK(planted_outcomes_are_findings),
      BRINK_CHECK(narrow_indices_are_chosen_where_they_fit_both_directions),
      BRINK_CHECK(windows_show_what_they_must),
      BRINK_CHECK(known_cells_are_reached),
      BRINK_CHECK(known_matrix_cells_are_reached),
      BRINK_CHECK(known_tests_are_judged),
      BRINK_CHECK(narrow_runs_are_as_predicted),
      BRINK_CHECK(true_width_cases_are_as_predicted),
      BRINK_CHECK(closed_forms_are_the_operations_answers),
      BRINK_CHECK(exit_status_tells_what_is_missing),
      BRINK_CHECK(reports_are_no_better_than_what_ran),
      BRINK_CHECK(kernels_say_what_ran),
      BRINK_CHECK(replays_notice_what_changed),
      BRINK_CHECK(shrinking_keeps_the_cause),
      BRINK_CHECK(generated_cases_are_as_predicted),
      BRINK_CHECK(bytes_are_the_case),
      BRINK_CHECK(counters_tell_the_sides_of_a_boundary_apart),
      BRINK_CHECK(mutations_cross_boundaries_within_their_limits),
  };
#undef BRINK_CHECK
  return checks;
}

}  // namespace brink
