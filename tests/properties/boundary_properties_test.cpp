#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>

#include "properties/examine.h"
#include "properties/generator.h"

// What must hold for every case, over RapidCheck's own runs: a case that breaks one is shrunk and printed.

namespace brink {

// RapidCheck prints cases in their text form.
void showValue(const Case& c, std::ostream& os) { os << to_text(c); }  // NOLINT: RapidCheck's own name

namespace {

// The same cases in each run; RapidCheck reads this once, at its first property.
const bool kConfigured = setenv("RC_PARAMS", "seed=188031 max_success=150", 0) == 0;

GeneratorOptions options_for(bool (*take)(const Implementation&)) {
  GeneratorOptions options;
  std::erase_if(options.implementations, [&](const Implementation& i) { return !take(i); });
  return options;
}

bool is_dispatched(const Implementation& i) { return i.rule == WidthRule::kSafe; }
bool is_not_dispatched(const Implementation& i) { return i.rule != WidthRule::kSafe; }
bool chooses_width(const Implementation& i) { return i.rule != WidthRule::kFixed; }

Examination examine(const Case& c) {
  Examiner examiner(Device::kHost);
  return examiner.examine(c);
}

TEST(BoundaryProperties, DispatchedKernelsAreRightEverywhere) {
  ASSERT_TRUE(kConfigured);
  const auto cases = boundary_case(options_for(is_dispatched));
  EXPECT_TRUE(rc::check("dispatched kernels are right everywhere", [&] {
    const Examination e = examine(*cases);
    RC_ASSERT(e.observed.verdict == Verdict::kOk);
    RC_ASSERT(e.differences.empty());
  }));
}

TEST(BoundaryProperties, FixedWidthKernelsAreWrongExactlyWherePredicted) {
  const auto cases = boundary_case(options_for(is_not_dispatched));
  EXPECT_TRUE(rc::check("fixed-width kernels are wrong exactly where predicted", [&] {
    const Examination e = examine(*cases);
    RC_ASSERT(e.observed.verdict != Verdict::kNotExecuted);
    RC_ASSERT(e.differences.empty());
  }));
}

TEST(BoundaryProperties, PathAndIndexTypeReachedAreThosePredicted) {
  const auto cases = boundary_case(GeneratorOptions());
  EXPECT_TRUE(rc::check("path and index type reached are those predicted", [&] {
    const Examination e = examine(*cases);
    if (e.shape.numel() == 0) return;
    RC_ASSERT(e.execution.launched.has_value());
    RC_ASSERT(e.execution.launched->sized.path == path_of(e.shape));
    RC_ASSERT(e.prediction.index_type == e.execution.launched->index_type);
    RC_ASSERT(e.prediction.variant == e.execution.launched->sized.variant);
    RC_ASSERT(e.prediction.launch == e.execution.launched->sized.launch);
  }));
}

TEST(BoundaryProperties, ForwardAndBackwardDecideAlike) {
  const auto cases = boundary_case(options_for(chooses_width));
  EXPECT_TRUE(rc::check("forward and backward take the same path and width", [&] {
    const Case c = *cases;
    const auto shape = std::get<Decomposition>(decompose(c));
    if (shape.numel() == 0) return;
    FixedOccupancy occupancy = host_occupancy(c.implementation);
    const auto one = dispatch(c.implementation, shape, c.operation, c.dtype, occupancy);
    const auto other = dispatch(c.implementation, shape, counterpart(c.operation), c.dtype, occupancy);
    RC_ASSERT(std::get<Dispatch>(one).index_type == std::get<Dispatch>(other).index_type);
    RC_ASSERT(std::get<Dispatch>(one).sized.path == std::get<Dispatch>(other).sized.path);
  }));
}

// The properties above can fail: a known defect breaks the first one, and is shrunk.
TEST(BoundaryProperties, AKnownDefectBreaksThem) {
  const auto cases = boundary_case(options_for([](const Implementation& i) { return i.name() == "spatial/u8"; }));
  EXPECT_FALSE(rc::check("(expected to fail) spatial/u8 is right everywhere",
                         [&] { RC_ASSERT(findings(examine(*cases), Role::kUser).empty()); }));
}

}  // namespace
}  // namespace brink
