#include <fmt/format.h>
#include <fmt/ranges.h>

#include "properties/finding.h"
#include "properties/replay.h"
#include "tests/mutants/checks.h"

namespace brink {

namespace {

Examination small_failure(Examiner& examiner, const char* implementation, std::vector<int64_t> shape) {
  Case c;
  c.shape = std::move(shape);
  c.axis = 1;
  c.implementation = *parse_implementation(implementation);
  return examiner.examine(c);
}

}  // namespace

std::string shrinking_keeps_the_cause() {
  struct Known {
    const char* implementation;
    std::vector<int64_t> shape;
    std::vector<int64_t> smallest;
  };
  Examiner examiner(Device::kHost);
  for (const Known& known :
       {Known{"spatial/u32", {1, 3, 2147508113}, {2, 2147483649}},
        // 2^31 + 1 elements are fewer, but take as many pages.
        Known{"spatial/i32", {1, 3, 715827883}, {2, 1073741825}},
        Known{"spatial/u32", {3, 1, 2147483000}, {2, 1, 2147483649}}, Known{"spatial/u8", {1, 7, 43}, {2, 129}},
        // The first offset to overflow is that of the second outer index's first element.
        Known{"spatial/u8", {3, 5, 43}, {2, 1, 129}}}) {
    const Examination e = small_failure(examiner, known.implementation, known.shape);
    const Shrunk shrunk = shrink(examiner, e, Role::kUser);
    if (cause_of(shrunk.smallest) != cause_of(e)) return fmt::format("\"{}\" was not kept", cause_of(e));
    if (shrunk.smallest.c.shape != known.smallest) {
      return fmt::format("[{}] shrank to [{}], not to [{}]", fmt::join(known.shape, ","),
                         fmt::join(shrunk.smallest.c.shape, ","), fmt::join(known.smallest, ","));
    }
  }
  return "";
}

std::string replays_notice_what_changed() {
  Examiner examiner(Device::kHost);
  const Examination e = small_failure(examiner, "spatial/u8", {3, 5, 43});
  const Regression recorded = regression_of({e, cause_of(e), 0}, e.c, Device::kHost);
  if (!replay(examiner, recorded).problems.empty()) return "a regression that is as recorded is a problem";
  Regression changed = recorded;
  changed.expected.back().second = Verdict::kMismatch;
  if (replay(examiner, changed).problems.empty()) return "a wrong verdict of dispatched is no problem";
  changed = recorded;
  changed.observation["never_written"] = nlohmann::ordered_json::array();
  if (replay(examiner, changed).problems.empty()) return "other elements than the recorded ones are no problem";
  changed = recorded;
  changed.expression = "outer_base";
  if (replay(examiner, changed).problems.empty()) return "another expression than the recorded one is no problem";
  changed = recorded;
  changed.c.shape = {3, 5};
  if (replay(examiner, changed).not_executed.empty()) return "what did not run is not listed";
  return "";
}

}  // namespace brink
