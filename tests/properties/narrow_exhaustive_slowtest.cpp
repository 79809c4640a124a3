#include <gtest/gtest.h>

#include <iostream>

#include "properties/comparison.h"
#include "properties/windows.h"

// The oracle earns its trust here: with 8-bit indices, every shape of up to 1,024 elements, both paths, both
// directions, the kernel is run and what it left in memory must be what was predicted.

namespace brink {
namespace {

struct Tally {
  int64_t shapes = 0;
  int64_t runs = 0;
  int64_t inexact_symbolic = 0;
  std::map<std::string, int64_t> verdicts;
};

void check_one(const Case& c, const Decomposition& shape, Tally& tally) {
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  const Prediction prediction = predict(c, occupancy);
  ASSERT_TRUE(prediction.exact) << to_text(c);
  const Execution execution = execute_on_host(c, {});
  const Outcome observed = outcome_of(c, shape, prediction, execution);
  const auto lines = differences(c, shape, prediction, execution, observed);
  ASSERT_TRUE(lines.empty()) << to_text(c) << lines[0] << "\npredicted " << to_json(prediction).dump() << "\nobserved  "
                             << to_json(observed).dump();
  ++tally.runs;
  ++tally.verdicts[std::string(name_of(observed.verdict))];
  // The symbolic engine must agree with the run as well: exactly where it says so, as a superset elsewhere.
  const Prediction symbolic = predict(c, occupancy, Engine::kSymbolic);
  if (!symbolic.exact) ++tally.inexact_symbolic;
  const auto symbolic_lines = differences(c, shape, symbolic, execution, outcome_of(c, shape, symbolic, execution));
  ASSERT_TRUE(symbolic_lines.empty()) << "symbolic engine: " << to_text(c) << symbolic_lines[0] << "\npredicted "
                                      << to_json(symbolic).dump() << "\nobserved  " << to_json(observed).dump();
  if (symbolic.exact && symbolic.verdict != Verdict::kHang && symbolic.verdict != Verdict::kFault) {
    const Prediction traced = predict(c, occupancy, Engine::kTraced);
    const auto expression = [](const Prediction& p) {
      return p.first_overflow ? std::string(name_of(p.first_overflow->overflow.expression)) : "none";
    };
    // A size that was narrowed shows in no address, so the traced engine alone does not see it.
    const bool size = expression(symbolic).ends_with("_size");
    ASSERT_TRUE(size || expression(symbolic) == expression(traced))
        << to_text(c) << expression(symbolic) << " against " << expression(traced);
    if (!size && symbolic.first_overflow) {
      ASSERT_EQ(to_json(symbolic)["first_overflow"].dump(), to_json(traced)["first_overflow"].dump()) << to_text(c);
    }
  }
}

void check_all(IndexType type, Operation operation, int64_t numel_max) {
  Tally tally;
  for (int64_t outer = 1; outer <= numel_max; ++outer) {
    for (int64_t dim = 1; outer * dim <= numel_max; ++dim) {
      for (int64_t inner = 1; outer * dim * inner <= numel_max; ++inner) {
        ++tally.shapes;
        Case c;
        c.operation = operation;
        c.shape = {outer, dim, inner};
        c.axis = 1;
        c.implementation = {WidthRule::kFixed, type, inner == 1 ? Path::kLastDim : Path::kSpatial};
        check_one(c, {outer, dim, inner}, tally);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
  std::cout << name_of(operation) << " " << name_of(type) << ": " << tally.shapes << " shapes, " << tally.runs
            << " runs";
  for (const auto& [verdict, count] : tally.verdicts) std::cout << ", " << count << " " << verdict;
  std::cout << "; the symbolic engine was exact for " << tally.runs - tally.inexact_symbolic << "\n";
}

TEST(NarrowExhaustive, SoftmaxBackwardU8) { check_all(IndexType::kU8, Operation::kSoftmaxBackward, 1024); }
TEST(NarrowExhaustive, SoftmaxBackwardI8) { check_all(IndexType::kI8, Operation::kSoftmaxBackward, 1024); }
TEST(NarrowExhaustive, SoftmaxForwardU8) { check_all(IndexType::kU8, Operation::kSoftmaxForward, 1024); }
TEST(NarrowExhaustive, SoftmaxForwardI8) { check_all(IndexType::kI8, Operation::kSoftmaxForward, 1024); }
TEST(NarrowExhaustive, LogSoftmaxForwardU8) { check_all(IndexType::kU8, Operation::kLogSoftmaxForward, 1024); }
TEST(NarrowExhaustive, LogSoftmaxForwardI8) { check_all(IndexType::kI8, Operation::kLogSoftmaxForward, 1024); }
TEST(NarrowExhaustive, LogSoftmaxBackwardU8) { check_all(IndexType::kU8, Operation::kLogSoftmaxBackward, 1024); }
TEST(NarrowExhaustive, LogSoftmaxBackwardI8) { check_all(IndexType::kI8, Operation::kLogSoftmaxBackward, 1024); }

}  // namespace
}  // namespace brink
