#include "properties/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brink {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

EvidenceRecord record(const char* verdict) {
  EvidenceRecord r;
  r.command = "run";
  r.device = "host";
  r.role = "user";
  r.operation = "softmax_backward";
  r.implementation = "dispatched";
  r.memory = "sparse";
  r.shape = {2, 3};
  r.path = "last_dim";
  r.verdict = r.predicted_verdict = verdict;
  if (r.executed()) r.said_by = "kernel";
  if (!r.executed()) r.reason = "no CUDA device";
  return r;
}

Summary summary_of(const std::vector<EvidenceRecord>& records) {
  Summary summary;
  for (const EvidenceRecord& r : records) summary.add(r, "{}");
  summary.finish();
  return summary;
}

EvidenceRecord required(EvidenceRecord r) {
  r.required = true;
  return r;
}

TEST(Summary, NothingAtAllIsNotOk) {
  EXPECT_EQ(summary_of({}).exit_status(), 3);
  EXPECT_EQ(summary_of({record("not_executed")}).exit_status(), 3);
  EvidenceRecord empty_tensor = record("ok");
  empty_tensor.said_by.clear();
  EXPECT_EQ(summary_of({empty_tensor}).exit_status(), 3);
  EXPECT_EQ(summary_of({record("ok")}).exit_status(), 0);
}

TEST(Summary, ACaseThatHadToRunAndDidNotIsAHole) {
  EXPECT_EQ(summary_of({record("ok"), record("not_executed")}).exit_status(), 0) << "it did not have to";
  EvidenceRecord other = required(record("not_executed"));
  other.shape = {4, 5};
  const Summary summary = summary_of({required(record("ok")), other});
  EXPECT_EQ(summary.exit_status(), 3);
  EXPECT_EQ(summary.required_not_executed(), 1);
}

TEST(Summary, AHoleIsFilledByAnotherRunOfTheSameCase) {
  EXPECT_EQ(summary_of({required(record("not_executed")), required(record("ok"))}).exit_status(), 0);
  EvidenceRecord elsewhere = required(record("ok"));
  elsewhere.device = "cuda";
  EXPECT_EQ(summary_of({required(record("not_executed")), elsewhere}).exit_status(), 3);
}

TEST(Summary, APlannedCellThatNobodyReachedIsMissing) {
  EvidenceRecord planned = record("not_executed");
  planned.planned = {"spatial/columns backward u32", "resident", {"element_offset 2^32-1 above start,end"}, ""};
  EvidenceRecord reached = record("ok");
  reached.reached = {"spatial/columns backward u32", "resident", {"element_offset 2^32-1 above end"}, ""};
  const Summary summary = summary_of({planned, reached});
  const auto missing = summary.missing_cells();
  ASSERT_THAT(missing, SizeIs(1));
  EXPECT_EQ(missing.begin()->first, "spatial/columns backward u32 element_offset 2^32-1 above start resident");
  EXPECT_EQ(missing.begin()->second, "no CUDA device");
  EXPECT_EQ(summary.exit_status(), 3);
  reached.reached.at = {"element_offset 2^32-1 above start,boundary,end"};
  EXPECT_EQ(summary_of({planned, reached}).exit_status(), 0);
}

// Both ways round, so that neither order of the packed keys gives both answers.
TEST(Summary, OfSeveralReasonsForAPlannedCellTheSmallestIsKept) {
  for (const auto& [both, one] :
       {std::pair("a: no memory", "b: no device"), std::pair("b: no device", "a: no memory")}) {
    EvidenceRecord first = record("not_executed");
    first.reason = both;
    first.planned = {
        "spatial/columns backward u32", "resident", {"element_offset 2^32-1 above start,end"}, "start,end"};
    EvidenceRecord second = first;
    second.reason = one;
    second.planned.at = {"element_offset 2^32-1 above end"};
    second.planned.places = "end";
    const Summary summary = summary_of({first, second});
    const auto planned = summary.planned_matrix();
    ASSERT_THAT(planned, SizeIs(2));
    const auto missing = summary.missing_cells();
    ASSERT_THAT(missing, SizeIs(2));
    EXPECT_EQ(planned.begin()->second, "a: no memory");  // "... end ..." comes before "... start ..."
    EXPECT_EQ(missing.begin()->second, "a: no memory");
  }
}

TEST(Summary, AFindingCountsMoreThanAHoleAndABrokenLineMost) {
  EvidenceRecord finding = record("mismatch");
  finding.cause = "softmax_backward spatial u32 element_offset mismatch";
  Summary summary = summary_of({finding, finding, required(record("not_executed"))});
  EXPECT_EQ(summary.exit_status(), 1);
  EXPECT_EQ(summary.findings_count, 2);
  EXPECT_THAT(summary.findings, SizeIs(1));
  EXPECT_EQ(summary.defects, 0);
  summary.add_broken("ledger:1: not JSON");
  EXPECT_EQ(summary.exit_status(), 2);
}

TEST(Summary, AKnownDefectThatFailedAsPredictedIsNeitherRightNorAFinding) {
  EvidenceRecord defect = record("mismatch");
  defect.reached = {"spatial/columns backward u32", "resident", {"element_offset 2^32-1 above end"}, ""};
  const Summary summary = summary_of({defect});
  EXPECT_EQ(summary.defects, 1);
  EXPECT_EQ(summary.exit_status(), 0);
  const CellCounts& counts = summary.reached.begin()->second;
  EXPECT_EQ(counts.right, 0);
  EXPECT_EQ(counts.defects, 1);
  EXPECT_EQ(counts.findings, 0);
}

TEST(Summary, PartsThatAreMergedCountAsTheWhole) {
  EvidenceRecord finding = record("mismatch");
  finding.cause = "a cause";
  finding.dense_bytes = 100;
  EvidenceRecord smaller = finding;
  smaller.dense_bytes = 10;
  Summary whole;
  Summary first;
  Summary second;
  for (Summary* summary : {&whole, &first}) {
    summary->add(finding, "large");
    summary->add(required(record("not_executed")), "skipped");
  }
  for (Summary* summary : {&whole, &second}) {
    summary->add(smaller, "small");
    summary->add(record("ok"), "ok");
  }
  second.merge(first);
  whole.finish();
  second.finish();
  EXPECT_EQ(second.examined, 4);
  EXPECT_EQ(second.verdicts, whole.verdicts);
  EXPECT_EQ(second.findings["a cause"].count, 2);
  EXPECT_EQ(second.findings["a cause"].example.line(), "small");
  EXPECT_EQ(second.required_not_executed(), whole.required_not_executed());
}

TEST(Summary, ReasonsThatDifferInNumbersAreOne) {
  EXPECT_EQ(without_numbers("1.2e+09 element visits are more than the host takes on (1.1e+09); run it on a GPU"),
            "# element visits are more than the host takes on (#); run it on a GPU");
  EXPECT_EQ(without_numbers("inner_size 1 selects path last_dim, spatial/u32 implements path spatial"),
            "inner_size # selects path last_dim, spatial/u32 implements path spatial");
}

TEST(Summary, PackedCellsAreUnpacked) {
  EXPECT_THAT(unpacked("last_dim/warp forward i64|resident|row_base 2^31-1 at start,end"),
              ElementsAre("last_dim/warp forward i64 row_base 2^31-1 at start resident",
                          "last_dim/warp forward i64 row_base 2^31-1 at end resident"));
}

TEST(Summary, MatrixCellsAreThoseOfTheCaseAndTheLaunch) {
  EvidenceRecord r = record("ok");
  r.shape = {1, 2, 2147483649};
  r.axis = -2;
  r.dtype = "f16";
  r.implementation = "spatial/u32";
  r.reached = {"spatial/columns backward u32", "resident", {}, "start,2^32-1"};
  const Summary summary = summary_of({r});
  ASSERT_THAT(summary.matrix_reached, SizeIs(1));
  EXPECT_THAT(
      unpacked_matrix(summary.matrix_reached.begin()->first),
      ElementsAre("spatial/columns backward non-last inner>1 >2^32-1 start spatial/u32 u32 resident f16 sparse",
                  "spatial/columns backward non-last inner>1 >2^32-1 2^32-1 spatial/u32 u32 resident f16 sparse"));
}

std::string parsed(const std::string& line) {
  EvidenceParser parser;
  EvidenceRecord r;
  return parser.parse(line, r);
}

TEST(EvidenceParser, ReadsWhatARecordHas) {
  EvidenceParser parser;
  EvidenceRecord r;
  // A record that held another line keeps nothing of it.
  r.cause = "old";
  r.shape = {9};
  EXPECT_EQ(parser.parse(R"({"brink_evidence":1,"command":"run","version":"0.1","device":"host","role":"user",)"
                         R"("seed":18446744073709551615,"case":{"operation":"o","shape":[1,2],"axis":-1,"dtype":"f16",)"
                         R"("implementation":"i","memory":"sparse"},"predicted":{"verdict":"ok","grid":[1,2],)"
                         R"("wrong":{"verdict":"hang"}},"observed":{"verdict":"mismatch","grid":[3,4]},)"
                         R"("unknown":{"verdict":7,"case":[{}]},"time":{"all_us":5}})",
                         r),
            "");
  EXPECT_EQ(r.seed, UINT64_MAX);
  EXPECT_THAT(r.shape, ElementsAre(1, 2));
  EXPECT_EQ(r.axis, -1);
  EXPECT_EQ(r.predicted_verdict, "ok");
  EXPECT_EQ(r.verdict, "mismatch");
  EXPECT_THAT(r.grid, ElementsAre(3, 4));
  EXPECT_EQ(r.microseconds[EvidenceRecord::kAll], 5);
  EXPECT_EQ(r.cause, "");
}

TEST(EvidenceParser, SaysWhatIsWrongWithALine) {
  EXPECT_THAT(parsed("nonsense"), HasSubstr("not JSON"));
  EXPECT_THAT(parsed("{\"brink_evidence\":1} trailing"), HasSubstr("not JSON"));
  EXPECT_THAT(parsed("[1]"), HasSubstr("a JSON object"));
  EXPECT_THAT(parsed("{}"), HasSubstr("\"brink_evidence\" is missing"));
  EXPECT_THAT(parsed("{\"brink_evidence\":2}"), HasSubstr("version 2 is not known"));
  EXPECT_THAT(parsed("{\"brink_evidence\":\"1\"}"), HasSubstr("wrong type"));
  EXPECT_THAT(parsed("{\"brink_evidence\":1}"), HasSubstr("\"command\" is missing"));
  EXPECT_THAT(parsed("{\"brink_evidence\":1,\"command\":\"\xff\"}"), HasSubstr("not JSON")) << "not UTF-8";
  EXPECT_THAT(parsed(std::string("{\"brink_evidence\":1}\0{}", 23)), HasSubstr("not JSON"));
  EXPECT_THAT(parsed(std::string(1 << 20, '[')), testing::Not(testing::IsEmpty()))
      << "deep, and no stack to spend on it";
  EXPECT_THAT(parsed("{\"a\":" + std::string(1 << 20, '[')), HasSubstr("not JSON"));
}

}  // namespace
}  // namespace brink
