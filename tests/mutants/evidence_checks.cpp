#include <fmt/format.h>

#include "properties/examine.h"
#include "properties/summary.h"
#include "tests/mutants/checks.h"

// A report must not be better than what ran.

namespace brink {

namespace {

EvidenceRecord record(const char* verdict) {
  EvidenceRecord r;
  r.device = "host";
  r.implementation = "spatial/u32";
  r.shape = {2, 3};
  r.verdict = r.predicted_verdict = verdict;
  if (r.executed()) r.said_by = "kernel";
  return r;
}

Summary summary_of(const std::vector<EvidenceRecord>& records) {
  Summary summary;
  for (const EvidenceRecord& r : records) summary.add(r, "{}");
  summary.finish();
  return summary;
}

}  // namespace

std::string reports_are_no_better_than_what_ran() {
  const auto status = [](const std::vector<EvidenceRecord>& records) { return summary_of(records).exit_status(); };
  const EvidenceRecord ok = record("ok");
  EvidenceRecord skipped = record("not_executed");
  if (status({}) != 3 || status({skipped}) != 3) return "nothing ran";
  if (status({ok}) != 0) return "all is well";
  skipped.required = true;
  if (status({ok, skipped}) != 3) return "a case that had to run did not";
  EvidenceRecord other = ok;
  other.required = true;
  other.shape = {4, 5};
  if (status({other, skipped}) != 3) return "another case ran instead";
  EvidenceRecord planned = ok;
  planned.planned = {"spatial/columns backward u32", "resident", {"element_offset 2^32-1 above start,end"}, ""};
  EvidenceRecord reached = ok;
  reached.reached = {"spatial/columns backward u32", "resident", {"element_offset 2^32-1 above end"}, ""};
  if (status({planned, reached}) != 3) return "a cell is missing";
  EvidenceRecord defect = record("mismatch");
  defect.reached = reached.reached;
  const Summary known = summary_of({defect});
  if (known.defects != 1 || known.reached.begin()->second.right != 0) return "a known defect counts as right";
  defect.cause = "a cause";
  if (status({ok, defect}) != 1) return "a finding";
  Summary broken = summary_of({ok});
  broken.add_broken("a line");
  if (broken.exit_status() != 2) return "a broken line";
  return "";
}

std::string kernels_say_what_ran() {
  Case c;
  c.shape = {2, 3, 50};
  c.axis = 1;
  c.implementation = *parse_implementation("no_launch");
  Examiner examiner(Device::kHost);
  if (examiner.examine(c).observed.verdict != Verdict::kNotExecuted) return "nothing was launched";
  c.implementation = *parse_implementation("spatial/u32");
  Examination e = examiner.examine(c);
  if (!e.differences.empty()) return "differs from what was asked for: " + e.differences.front();
  e.execution.raw.stamp.word = stamp_word<float, Operation::kSoftmaxBackward, Variant::kColumns, uint32_t>();
  if (differences(e.c, e.shape, e.prediction, e.execution, e.observed).empty()) return "a kernel of another dtype ran";
  e.execution.raw.stamp.word = stamp_word<F16, Operation::kSoftmaxBackward, Variant::kColumns, int64_t>();
  if (outcome_of(e.c, e.shape, e.prediction, e.execution).index_type != IndexType::kI64)
    return "the launcher is believed";
  return "";
}

}  // namespace brink
