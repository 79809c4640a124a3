#include "properties/examine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "kernels/execution/alias_period.h"
#include "kernels/execution/host_space.h"

namespace brink {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Case case_of(std::vector<int64_t> shape, int64_t axis, std::string_view implementation,
             Operation operation = Operation::kSoftmaxBackward, DType dtype = DType::kF16) {
  Case c;
  c.operation = operation;
  c.shape = std::move(shape);
  c.axis = axis;
  c.dtype = dtype;
  c.implementation = *parse_implementation(implementation);
  return c;
}

/// The most memory that the process has had resident since the last reset; -1 where the kernel does not say.
int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return -1;
}

bool reset_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5\n";
  file.flush();
  return file.good();
}

TEST(Examine, TheSeedsCaseAgreesWithItsPredictionInSmallMemory) {
  // Three tensors of 8 GiB.
  const bool can_reset = reset_peak();
  const int64_t before = resident_bytes();
  Examiner examiner(Device::kHost);
  for (const DType dtype : kDTypes) {
    const Examination e =
        examiner.examine(case_of({1, 2, 2147483649}, 1, "spatial/u32", Operation::kSoftmaxBackward, dtype));
    EXPECT_THAT(e.differences, IsEmpty());
    EXPECT_EQ(e.observed.verdict, Verdict::kMismatch);
    EXPECT_THAT(e.observed.contended, ElementsAre(Box{{0, 0}, {0, 0}, {0, 1}}));
    EXPECT_THAT(e.observed.wrong, ElementsAre(Box{{0, 0}, {0, 0}, {2147483647, 2147483648}}));
    EXPECT_THAT(e.observed.never_written, ElementsAre(Box{{0, 0}, {1, 1}, {2147483647, 2147483648}}));
    EXPECT_THAT(e.observed.out_of_bounds, IsEmpty());
    EXPECT_THAT(findings(e, Role::kSelfCheck), IsEmpty());
    EXPECT_THAT(findings(e, Role::kUser), ElementsAre("spatial/u32 is mismatch"));
  }
  EXPECT_LT(resident_bytes() - before, 500 * (int64_t{1} << 20));
  if (can_reset) {
    EXPECT_LT(peak_bytes() - before, 500 * (int64_t{1} << 20));
  }
}

TEST(Examine, DispatchedIsRightAtTheSeedsShape) {
  Examiner examiner(Device::kHost);
  for (const Operation operation : kOperations) {
    const Examination e = examiner.examine(case_of({1, 2, 2147483649}, 1, "dispatched", operation));
    EXPECT_EQ(e.observed.verdict, Verdict::kOk) << name_of(operation);
    EXPECT_EQ(e.observed.index_type, IndexType::kI64);
    EXPECT_THAT(findings(e, Role::kUser), IsEmpty());
    EXPECT_GT(e.execution.raw.looked_at.size(), 3u);
  }
}

TEST(Examine, TheUniformFormDoesNotSeeWhatTheCodedOneSees) {
  // Two outer slices of 2^32 elements: every read of the second is off by 2^32, onto the same places of the first.
  Case c = case_of({2, 2, int64_t{1} << 31}, 1, "spatial/u32");
  Examiner examiner(Device::kHost);
  c.family = FormFamily::kSeed;
  const Examination uniform = examiner.examine(c);
  EXPECT_THAT(uniform.observed.wrong, IsEmpty());
  EXPECT_THAT(uniform.differences, IsEmpty());
  c.family = FormFamily::kCoded;
  EXPECT_THAT(examiner.examine(c).differences, IsEmpty());
}

TEST(Examine, SmallTensorsAreLookedAtWhole) {
  Examiner examiner(Device::kHost);
  const Examination e = examiner.examine(case_of({2, 3, 5}, 1, "dispatched"));
  EXPECT_THAT(e.execution.raw.looked_at, ElementsAre(Interval{0, 29}));
  EXPECT_EQ(e.observed.verdict, Verdict::kOk);
}

TEST(Examine, AnEmptyTensorIsOkWithoutARun) {
  Examiner examiner(Device::kHost);
  const Examination e = examiner.examine(case_of({2, 0, 5}, 1, "spatial/u32"));
  EXPECT_EQ(e.observed.verdict, Verdict::kOk);
  EXPECT_EQ(e.execution.raw.ending, Ending::kNotExecuted);
  EXPECT_THAT(findings(e, Role::kUser), IsEmpty());
}

TEST(Examine, AnotherPathIsNotExecutedAndNoFinding) {
  Examiner examiner(Device::kHost);
  const Examination e = examiner.examine(case_of({1, 1, 4294967298}, 2, "spatial/u32"));
  EXPECT_EQ(e.observed.verdict, Verdict::kNotExecuted);
  EXPECT_THAT(e.observed.reason, HasSubstr("path"));
  EXPECT_THAT(findings(e, Role::kUser), IsEmpty());
}

TEST(Examine, WhatLeavesDenseMemoryFaultsInAWorkerAndTheRunGoesOn) {
  Examiner examiner(Device::kHost);
  Case wild = case_of({1, 3, 64}, 1, "spatial/i8");  // 192 elements: 128 to 191 become -128 to -65
  wild.memory = MemoryKind::kDense;
  const Case sound = case_of({1, 3, 64}, 1, "spatial/i64");
  for (int i = 0; i < 2; ++i) {
    const Examination fault = examiner.examine(wild);
    EXPECT_EQ(fault.prediction.verdict, Verdict::kFault);
    EXPECT_EQ(fault.observed.verdict, Verdict::kFault);
    EXPECT_THAT(fault.observed.reason, HasSubstr("worker process ended"));
    EXPECT_THAT(fault.differences, IsEmpty());
    EXPECT_THAT(findings(fault, Role::kUser), Not(IsEmpty()));
    EXPECT_EQ(examiner.examine(sound).observed.verdict, Verdict::kOk);
  }
  // The same case in memory that notes such addresses.
  wild.memory = MemoryKind::kSparse;
  const Examination noted = examiner.examine(wild);
  EXPECT_EQ(noted.observed.verdict, Verdict::kOutOfBounds);
  EXPECT_THAT(noted.observed.out_of_bounds, ElementsAre(Interval{-128, -65}));
}

TEST(Examine, APredictedHangAtTrueWidthEndsAsOne) {
  Examiner examiner(Device::kHost, {30});
  const Examination e = examiner.examine(case_of({1, 2, 4294967000}, 1, "spatial/u32"));
  EXPECT_EQ(e.prediction.verdict, Verdict::kHang);
  EXPECT_EQ(e.observed.verdict, Verdict::kHang);
  EXPECT_THAT(e.differences, IsEmpty());
  EXPECT_EQ(examiner.examine(case_of({2, 3, 5}, 1, "dispatched")).observed.verdict, Verdict::kOk);
}

TEST(Examine, DenseMemoryGivesTheSameAnswerAsSparse) {
  Examiner examiner(Device::kHost);
  for (const char* implementation : {"dispatched", "spatial/u8", "numel_rule/u8"}) {
    Case c = case_of({3, 4, 50}, 1, implementation);
    const Examination sparse = examiner.examine(c);
    c.memory = MemoryKind::kDense;
    const Examination dense = examiner.examine(c);
    EXPECT_EQ(to_json(dense.observed).dump(), to_json(sparse.observed).dump()) << implementation;
    EXPECT_THAT(dense.differences, IsEmpty());
  }
}

TEST(Examine, AliasedMemoryGivesTheSameAnswerAsSparse) {
  Examiner examiner(Device::kHost);
  // 8-byte elements, so that few of them make several periods.
  const int64_t period = period_elements(8);
  const std::vector<Case> cases = {
      case_of({1, 2, 2 * period + 1000}, 1, "dispatched", Operation::kSoftmaxBackward, DType::kF64),
      case_of({5, 1, period}, 1, "dispatched", Operation::kLogSoftmaxForward, DType::kF64),
      case_of({4, period + 77}, 1, "dispatched", Operation::kLogSoftmaxBackward, DType::kF64),
      case_of({1, 2, 2 * period + 1000}, 1, "spatial/i64", Operation::kSoftmaxForward, DType::kF64),
      case_of({1, 3, 60000}, 1, "spatial/u16", Operation::kSoftmaxBackward, DType::kF64),
  };
  for (Case c : cases) {
    c.memory = MemoryKind::kSparse;
    const Examination sparse = examiner.examine(c);
    c.memory = MemoryKind::kAliased;
    const Examination aliased = examiner.examine(c);
    EXPECT_EQ(to_json(aliased.observed).dump(), to_json(sparse.observed).dump()) << to_text(c);
    EXPECT_EQ(aliased.execution.raw.looked_at, sparse.execution.raw.looked_at);
    EXPECT_THAT(aliased.differences, IsEmpty()) << to_text(c);
    EXPECT_THAT(sparse.differences, IsEmpty()) << to_text(c);
    EXPECT_NE(aliased.observed.verdict, Verdict::kNotExecuted) << aliased.observed.reason;
    EXPECT_GT(aliased.execution.raw.physical_bytes, 0);
  }
}

TEST(Examine, TooMuchWorkIsNotExecutedAndSaysSo) {
  Case c = case_of({1, 2, 2147483649}, 1, "dispatched");
  c.memory = MemoryKind::kAliased;  // runs every block
  Examiner examiner(Device::kHost);
  const Examination e = examiner.examine(c);
  EXPECT_EQ(e.observed.verdict, Verdict::kNotExecuted);
  EXPECT_THAT(e.observed.reason, HasSubstr("more than the host takes on"));
}

TEST(Findings, AKnownDefectIsOneForAUserOnly) {
  Examination e;
  e.c = case_of({1, 2, 9}, 1, "spatial/u32");
  e.prediction.verdict = e.observed.verdict = Verdict::kMismatch;
  EXPECT_THAT(findings(e, Role::kSelfCheck), IsEmpty());
  EXPECT_THAT(findings(e, Role::kUser), ElementsAre("spatial/u32 is mismatch"));
  // A dispatched kernel has no excuse.
  e.c.implementation = *parse_implementation("dispatched");
  EXPECT_THAT(findings(e, Role::kSelfCheck), ElementsAre("dispatched is mismatch"));
}

TEST(Findings, APredictionThatDidNotComeTrueIsOneForEveryone) {
  Examination e;
  e.c = case_of({1, 2, 9}, 1, "spatial/u32");
  e.prediction.verdict = Verdict::kMismatch;
  e.observed.verdict = Verdict::kOk;
  e.differences = {"verdict: predicted mismatch, observed ok"};
  EXPECT_THAT(findings(e, Role::kSelfCheck), ElementsAre(e.differences[0]));
  EXPECT_THAT(findings(e, Role::kUser), ElementsAre(e.differences[0]));
}

// Too large to run whole, so the blocks whose counters wrap must be among those that run.
TEST(Examine, WrappedLoopsOfLargeScaleModelsEndAsPredicted) {
  struct Shape {
    std::vector<int64_t> sizes;
    int64_t axis;
    const char* implementation;
  };
  for (const Shape& s : {Shape{{1000, 256}, 1, "last_dim/u8"}, Shape{{17, 100, 127}, 2, "last_dim/i8"},
                         Shape{{95, 2105, 42921}, 2, "last_dim/i16"}, Shape{{4, 31733, 33837}, 2, "last_dim/i16"}}) {
    Case c;
    c.shape = s.sizes;
    c.axis = s.axis;
    c.implementation = *parse_implementation(s.implementation);
    const Examination e = Examiner(Device::kHost).examine(c);
    EXPECT_NE(e.observed.verdict, Verdict::kOk) << to_text(c);
    EXPECT_THAT(e.differences, testing::IsEmpty()) << to_text(c);
  }
}

}  // namespace
}  // namespace brink
