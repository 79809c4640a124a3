#include "properties/shrink.h"

#include <gtest/gtest.h>

#include "properties/finding.h"
#include "properties/generator.h"
#include "properties/regression.h"
#include "properties/simplicity.h"

namespace brink {
namespace {

Case case_of(std::string_view implementation, std::vector<int64_t> shape, int64_t axis,
             Operation operation = Operation::kSoftmaxBackward, DType dtype = DType::kF16) {
  Case c;
  c.operation = operation;
  c.shape = std::move(shape);
  c.axis = axis;
  c.dtype = dtype;
  c.implementation = *parse_implementation(implementation);
  return c;
}

Shrunk shrunk(const Case& c, double limit = 60) {
  Examiner examiner(Device::kHost, {limit}, Isolation::kAlways);
  const Examination e = examiner.examine(c);
  EXPECT_FALSE(findings(e, Role::kUser).empty()) << to_text(c);
  Shrunk result = shrink(examiner, e, Role::kUser);
  EXPECT_EQ(result.cause, cause_of(e));
  EXPECT_EQ(cause_of(result.smallest), cause_of(e));
  EXPECT_EQ(result.smallest.c.implementation, c.implementation);
  EXPECT_FALSE(simplicity(c) < simplicity(result.smallest.c));
  EXPECT_LE(result.runs, kMaxShrinkRuns);
  return result;
}

using Shape = std::vector<int64_t>;

TEST(Shrink, TheSeedsDefectIsWrittenAsItsBoundary) {
  for (const Case& c : {case_of("spatial/u32", {1, 2, 2147483649}, 1), case_of("spatial/u32", {641, 6700417}, 0),
                        case_of("spatial/u32", {3, 2147508113}, -2, Operation::kSoftmaxBackward, DType::kF64)}) {
    const Shrunk result = shrunk(c);
    EXPECT_EQ(result.smallest.c.shape, (Shape{2, 2147483649})) << to_text(c);
    EXPECT_EQ(result.smallest.c.axis, 0);
    EXPECT_EQ(result.smallest.c.dtype, DType::kF16);
    EXPECT_EQ(result.cause, "softmax_backward spatial u32 element_offset mismatch");
  }
}

TEST(Shrink, OtherExpressionsAndVerdictsHaveSmallestCasesOfTheirOwn) {
  EXPECT_EQ(shrunk(case_of("spatial/u32", {3, 1, 2147483000}, 1)).cause,
            "softmax_backward spatial u32 column_offset mismatch");
  EXPECT_EQ(shrunk(case_of("spatial/u32", {1, 3, 4294967296}, 1)).smallest.c.shape, (Shape{1, 4294967296}));
  EXPECT_EQ(shrunk(case_of("spatial/i32", {2, 3, 1 << 30}, 1)).smallest.c.memory, MemoryKind::kSparse);
}

TEST(Shrink, AHangIsKeptAndIsShrunk) {
  const Shrunk result = shrunk(case_of("spatial/u32", {1, 2, 4294967000}, 1), 1);
  EXPECT_EQ(result.smallest.observed.verdict, Verdict::kHang);
  EXPECT_EQ(result.smallest.c.shape.size(), 2u);
  EXPECT_EQ(result.smallest.c.shape[0], 1);
  EXPECT_LT(result.smallest.c.shape[1], 4294967000);
}

TEST(Shrink, AFaultIsKeptAndIsShrunk) {
  Case c = case_of("spatial/i8", {3, 5, 64}, 1);
  c.memory = MemoryKind::kDense;
  const Shrunk result = shrunk(c);
  EXPECT_EQ(result.smallest.observed.verdict, Verdict::kFault);
  // What faults in dense memory only needs dense memory.
  EXPECT_EQ(result.smallest.c.memory, MemoryKind::kDense);
  EXPECT_LT(result.smallest.shape.numel(), 200);
}

TEST(Shrink, WhatNeedsNoDenseMemoryLeavesIt) {
  Case c = case_of("spatial/u8", {3, 5, 64}, 1);
  c.memory = MemoryKind::kDense;
  c.seed = 99;
  const Shrunk result = shrunk(c);
  EXPECT_EQ(result.smallest.c.memory, MemoryKind::kSparse);
  EXPECT_EQ(result.smallest.c.seed, 0u);
}

// Against every simpler case, each of them run.
TEST(Shrink, NoSmallerShapeOfAScaleModelFailsInTheSameWay) {
  for (const char* name : {"spatial/i8", "last_dim/i8", "spatial/u8"}) {
    const bool spatial = name[0] == 's';
    const Shrunk result = shrunk(case_of(name, spatial ? Shape{3, 7, 30} : Shape{30, 21}, 1));
    const auto least = simplicity(result.smallest.c);
    Examiner examiner(Device::kHost);
    for (int64_t numel = 1; numel <= result.smallest.shape.numel(); ++numel) {
      for (int64_t outer = 1; outer <= numel; ++outer) {
        for (int64_t dim = 1; numel % outer == 0 && dim <= numel / outer; ++dim) {
          if (numel / outer % dim != 0) continue;
          Case c = with_decomposition(result.smallest.c, {outer, dim, numel / outer / dim});
          if (path_of(std::get<Decomposition>(decompose(c))) != result.smallest.observed.path) continue;
          if (simplicity(c) >= least) continue;
          const Examination e = examiner.examine(c);
          ASSERT_FALSE(!findings(e, Role::kUser).empty() && cause_of(e) == result.cause) << to_text(c);
        }
      }
    }
  }
}

TEST(Shrink, WithoutAPredictionEveryStepIsARun) {
  // 400 MiB for the workspace, where a worker may hold 100: no oracle knows of it.
  const Case c = case_of("workspace", {5, 7, 1500000}, 1, Operation::kLogSoftmaxForward, DType::kF32);
  Examiner examiner(Device::kHost, {60, int64_t{100} << 20}, Isolation::kAlways);
  const Examination e = examiner.examine(c);
  ASSERT_EQ(e.observed.verdict, Verdict::kOutOfMemory) << e.observed.reason;
  const Shrunk result = shrink(examiner, e, Role::kUser, 60);
  EXPECT_GT(result.runs, 10);
  EXPECT_LE(result.runs, 60);
  EXPECT_EQ(result.smallest.observed.verdict, Verdict::kOutOfMemory);
  EXPECT_EQ(cause_of(result.smallest), cause_of(e));
  EXPECT_LT(result.smallest.shape.numel(), e.shape.numel() / 2);
  EXPECT_LT(result.smallest.c.shape.size(), 3u);
  EXPECT_EQ(result.smallest.c.dtype, DType::kF16);
}

TEST(Shrink, TheNumberOfRunsIsKept) {
  const Case c = case_of("workspace", {5, 7, 1500000}, 1);
  Examiner examiner(Device::kHost, {60, int64_t{100} << 20}, Isolation::kAlways);
  const Examination e = examiner.examine(c);
  EXPECT_EQ(shrink(examiner, e, Role::kUser, 3).runs, 3);
  EXPECT_EQ(shrink(examiner, e, Role::kUser, 0).smallest.c, c);
}

TEST(Shrink, TheSameFailureGivesTheSameBytes) {
  const Case c = case_of("last_dim/i32", {1500000, 3000}, 1, Operation::kLogSoftmaxForward, DType::kF32);
  const std::string text = to_text(regression_of(shrunk(c), c, Device::kHost));
  EXPECT_EQ(text, to_text(regression_of(shrunk(c), c, Device::kHost)));
}

// The first 50 failing cases of an implementation: those of one cause have one smallest case.
void fifty_cases_have_one_smallest_case_a_cause(const std::string& name, double limit) {
  GeneratorOptions options;
  options.implementations = {*parse_implementation(name)};
  options.exact_prime = false;
  Examiner examiner(Device::kHost, {limit});
  std::map<std::string, Case> smallest;
  int failing = 0;
  for (const Case& c : generate_cases(50, 1000, options)) {
    const Examination e = examiner.examine(c);
    if (findings(e, Role::kUser).empty() || !e.differences.empty()) continue;
    const Shrunk result = shrink(examiner, e, Role::kUser);
    const auto [kept, is_new] = smallest.try_emplace(result.cause, result.smallest.c);
    EXPECT_EQ(kept->second, result.smallest.c) << result.cause << "\n" << to_text(c);
    EXPECT_LE(result.runs, kMaxShrinkRuns);
    if (++failing == 50) break;
  }
  EXPECT_EQ(failing, 50) << name;
  EXPECT_LT(smallest.size(), 40u) << name;
}

TEST(Shrink, FiftyCasesOfAScaleModelHaveOneSmallestCaseACause) {
  fifty_cases_have_one_smallest_case_a_cause("spatial/i8", 5);
}

TEST(Shrink, FiftyCasesOfASignedKernelHaveOneSmallestCaseACause) {
  fifty_cases_have_one_smallest_case_a_cause("spatial/i32", 5);
}

TEST(Shrink, CasesOfARefusedLaunchHaveOneSmallestCase) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1, 512}, {5, 3, 1000}, {100, 64}, {1024, 33}}) {
    const Shrunk result = shrunk(case_of("spatial/i64_ask_once", shape, 0));
    EXPECT_EQ(result.smallest.c.shape, (std::vector<int64_t>{1, 395})) << testing::PrintToString(shape);
  }
}

TEST(Shrink, CasesOfATornBarrierHaveOneSmallestCase) {
  const Shrunk first = shrunk(case_of("spatial/i64_torn_barrier", {65, 7}, 0));
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{100, 7}, {1025, 3, 3}, {128, 5}}) {
    EXPECT_EQ(shrunk(case_of("spatial/i64_torn_barrier", shape, 0)).smallest.c, first.smallest.c)
        << testing::PrintToString(shape);
  }
}

}  // namespace
}  // namespace brink
