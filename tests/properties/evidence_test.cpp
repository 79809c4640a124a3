#include "properties/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "properties/read_ledger.h"

namespace brink {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const EvidenceSource kSource = {"run", "0.0", Device::kHost, Role::kUser, 3, true};

Case case_of(const char* implementation, std::vector<int64_t> shape, int64_t axis) {
  Case c;
  c.shape = std::move(shape);
  c.axis = axis;
  c.implementation = *parse_implementation(implementation);
  return c;
}

ordered_json evidence_of(const Case& c, const EvidenceSource& source = kSource) {
  Examiner examiner(Device::kHost);
  return ordered_json::parse(evidence_line(source, examiner.examine(c)));
}

/// A file in a folder of its own, gone at the end of the test.
class EvidenceFile : public testing::Test {
 protected:
  EvidenceFile() {
    char name[] = "/tmp/brink_evidence_XXXXXX";
    folder_ = mkdtemp(name);
    path_ = folder_ + "/ledger.jsonl";
  }
  ~EvidenceFile() override { std::filesystem::remove_all(folder_); }

  void append(std::string_view text) const { std::ofstream(path_, std::ios::app) << text; }
  Summary read() const {
    Summary summary;
    EXPECT_EQ(read_ledger(path_, summary), "");
    summary.finish();
    return summary;
  }

  std::string folder_;
  std::string path_;
};

TEST(EvidenceLine, HoldsThePredictionAndWhatTheKernelItselfSaid) {
  // pytorch#188031: 2^32 + 2 elements, the last two of which become the first two.
  const ordered_json j = evidence_of(case_of("spatial/u32", {1, 2, 2147483649}, 1));
  EXPECT_EQ(j["case"]["implementation"], "spatial/u32");
  EXPECT_EQ(j["predicted"]["first_overflow"].dump(),
            R"({"expression":"element_offset","exact":"4294967296","wrapped":0,"at":[0,1,2147483647]})");
  for (const char* side : {"predicted", "observed"}) {
    EXPECT_EQ(j[side]["verdict"], "mismatch");
    EXPECT_EQ(j[side]["index_type"], "u32");
    EXPECT_EQ(j[side]["grid"].dump(), "[1,65535]");
    EXPECT_EQ(j[side]["never_written"].dump(), R"({"elements":2,"boxes":[[0,0,1,1,2147483647,2147483648]]})");
  }
  EXPECT_EQ(j["observed"]["said_by"], "kernel");
  EXPECT_EQ(j["reached"]["of"], "spatial/columns backward u32");
  EXPECT_THAT(j["reached"]["at"].dump(), HasSubstr("element_offset 2^32-1 above start,boundary,end"));
  EXPECT_FALSE(j.contains("planned")) << "it is what was reached";
  EXPECT_THAT(j["looked_at"], Not(IsEmpty()));
  EXPECT_EQ(j["cause"], "softmax_backward spatial u32 element_offset mismatch");
  EXPECT_THAT(j["repeat"].get<std::string>(), HasSubstr("brink run --op softmax_backward"));
}

TEST(EvidenceLine, DiffersBetweenRunsInItsTimesAlone) {
  const Case c = case_of("spatial/u32", {1, 2, 2147483649}, 1);
  ordered_json one = evidence_of(c);
  ordered_json other = evidence_of(c);
  EXPECT_EQ(one.back(), one["time"]) << "the last field, so that it can be cut off";
  one.erase("time");
  other.erase("time");
  EXPECT_EQ(one.dump(), other.dump());
}

TEST(EvidenceLine, SaysWhyACaseWasNotExecuted) {
  const ordered_json j = evidence_of(case_of("spatial/u32", {3, 50}, 1));
  EXPECT_EQ(j["observed"]["verdict"], "not_executed");
  EXPECT_THAT(j["observed"]["reason"].get<std::string>(), HasSubstr("selects path last_dim"));
  EXPECT_FALSE(j["observed"].contains("said_by"));
  EXPECT_FALSE(j.contains("reached"));
}

TEST(Stamp, AnImplementationThatLaunchesNothingIsNotExecuted) {
  // The memory is as it was before, so a missing launch leaves poison.
  for (const Case& c : {case_of("no_launch", {1, 2, 2147483649}, 1), case_of("no_launch", {2, 3, 50}, 1)}) {
    const ordered_json j = evidence_of(c);
    EXPECT_EQ(j["predicted"]["verdict"], "ok");
    EXPECT_EQ(j["observed"]["verdict"], "not_executed");
    EXPECT_THAT(j["observed"]["reason"].get<std::string>(), HasSubstr("the kernel left no stamp"));
    EXPECT_FALSE(j.contains("reached"));
    EXPECT_TRUE(j.contains("planned"));
  }
}

TEST(Stamp, NamesTheInstanceThatRan) {
  for (const char* implementation : {"dispatched", "spatial/i64", "spatial/u32", "spatial/i8"}) {
    const Case c = case_of(implementation, {2, 3, 50}, 1);
    const Execution execution = execute_on_host(c, {});
    const auto kernel = kernel_of(execution.raw.stamp);
    ASSERT_TRUE(kernel.has_value()) << implementation;
    EXPECT_EQ(kernel->operation, c.operation);
    EXPECT_EQ(kernel->dtype, c.dtype);
    EXPECT_EQ(kernel->index_type, execution.launched->index_type);
    EXPECT_EQ(kernel->variant, execution.launched->sized.variant);
    EXPECT_EQ(execution.reached()->sized.launch, execution.launched->sized.launch);
  }
}

TEST(Stamp, OfAnotherKernelThanWasAskedForIsADifference) {
  Examiner examiner(Device::kHost);
  const Examination e = examiner.examine(case_of("spatial/u32", {2, 3, 50}, 1));
  ASSERT_THAT(e.differences, IsEmpty());
  const auto differences_with = [&](const KernelStamp& stamp) {
    Execution other = e.execution;
    other.raw.stamp = stamp;
    return differences(e.c, e.shape, e.prediction, other, outcome_of(e.c, e.shape, e.prediction, other));
  };
  KernelStamp stamp = e.execution.raw.stamp;
  EXPECT_THAT(differences_with(stamp), IsEmpty());
  stamp.word = stamp_word<float, Operation::kSoftmaxBackward, Variant::kColumns, uint32_t>();
  EXPECT_THAT(differences_with(stamp), SizeIs(1)) << "another dtype";
  stamp.word = stamp_word<F16, Operation::kSoftmaxForward, Variant::kColumns, uint32_t>();
  EXPECT_THAT(differences_with(stamp), SizeIs(1)) << "another operation";
  stamp.word = stamp_word<F16, Operation::kSoftmaxBackward, Variant::kColumns, int64_t>();
  EXPECT_THAT(differences_with(stamp), SizeIs(1)) << "another index type";
  stamp = e.execution.raw.stamp;
  ++stamp.grid_x;
  EXPECT_THAT(differences_with(stamp), Not(IsEmpty())) << "another grid";
}

TEST_F(EvidenceFile, HoldsOneLineForEachExecution) {
  for (int run = 0; run < 2; ++run) {
    Examiner examiner(Device::kHost);
    Ledger ledger(path_, kSource);
    examiner.on_examination([&](const Examination& e) { ledger.append(e); });
    for (const int64_t size : {5, 6, 7}) examiner.examine(case_of("dispatched", {2, 3, size}, 1));
    EXPECT_EQ(ledger.error(), "");
  }
  const Summary summary = read();
  EXPECT_EQ(summary.launched, 6);
  EXPECT_EQ(summary.exit_status(), 0);
}

TEST_F(EvidenceFile, ALineThatWasCutOffIsMarkedByWhoeverAppendsNext) {
  Examiner examiner(Device::kHost);
  const Examination e = examiner.examine(case_of("dispatched", {2, 3, 5}, 1));
  const std::string line = evidence_line(kSource, e);
  append(line + line.substr(0, line.size() / 2));
  EXPECT_EQ(read().torn, 1) << "a last line without its end";
  Ledger(path_, kSource).append(e);
  const Summary summary = read();
  EXPECT_EQ(summary.launched, 2);
  EXPECT_EQ(summary.torn, 1);
  EXPECT_EQ(summary.broken, 0);
  EXPECT_EQ(summary.exit_status(), 0);
}

TEST_F(EvidenceFile, AWholeLastLineWithoutANewlineCounts) {
  Examiner examiner(Device::kHost);
  std::string line = evidence_line(kSource, examiner.examine(case_of("dispatched", {2, 3, 5}, 1)));
  line.pop_back();
  append(line);
  EXPECT_EQ(read().launched, 1);
  EXPECT_EQ(read().torn, 0);
}

TEST_F(EvidenceFile, SeveralWritersLeaveWholeLines) {
  constexpr int kWriters = 4;
  constexpr int kLines = 200;
  Examiner examiner(Device::kHost);
  const Examination e = examiner.examine(case_of("spatial/u8", {2, 3, 50}, 1));
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&] {
      Ledger ledger(path_, kSource);
      for (int k = 0; k < kLines; ++k) ledger.append(e);
      EXPECT_EQ(ledger.error(), "");
    });
  }
  for (std::thread& writer : writers) writer.join();
  const Summary summary = read();
  EXPECT_EQ(summary.examined, kWriters * kLines);
  EXPECT_EQ(summary.torn + summary.broken, 0);
}

TEST_F(EvidenceFile, AFullDiskAndAMissingFolderAreErrorsThatNameTheFile) {
  Examiner examiner(Device::kHost);
  Ledger full("/dev/full", kSource);
  full.append(examiner.examine(case_of("dispatched", {2, 3, 5}, 1)));
  EXPECT_THAT(full.error(), HasSubstr("/dev/full: "));
  EXPECT_THAT(Ledger(folder_ + "/no/ledger", kSource).error(), HasSubstr("/no/ledger: "));
}

TEST_F(EvidenceFile, ALineThatCannotBeReadIsNamedAndTheRestIsCounted) {
  Examiner examiner(Device::kHost);
  const std::string line = evidence_line(kSource, examiner.examine(case_of("dispatched", {2, 3, 5}, 1)));
  append(line + "\n{\"brink_evidence\":1,\n" + line);
  const Summary summary = read();
  EXPECT_EQ(summary.launched, 2);
  ASSERT_THAT(summary.broken_lines, SizeIs(1));
  EXPECT_THAT(summary.broken_lines[0], HasSubstr(path_ + ":3: not JSON"));
  EXPECT_EQ(summary.exit_status(), 2);
}

}  // namespace
}  // namespace brink
