#include "properties/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "properties/check.h"
#include "properties/generator.h"
#include "properties/memory_needed.h"

namespace brink {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr int64_t kMiB = int64_t{1} << 20;

Prediction predict_here(const Case& c) {
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  return predict(c, occupancy);
}

const Plan& plan_of_200_mib() {
  static const Plan plan = make_plan({Device::kHost, 200 * kMiB, std::nullopt}, predict_here);
  return plan;
}

Decomposition shape_of(const Case& c) { return std::get<Decomposition>(decompose(c)); }

std::vector<std::string> cells_predicted(const Case& c) {
  return plan_cells(c, shape_of(c), as_predicted(c, shape_of(c), predict_here(c)));
}

TEST(SlowPlan, ReachesEveryCellThatTheHostCanReach) {
  const Plan& plan = plan_of_200_mib();
  EXPECT_THAT(plan.left_out, IsEmpty());
  std::set<std::string> planned;
  for (const PlannedCase& one : plan.cases) planned.insert(one.cells.begin(), one.cells.end());
  EXPECT_EQ(static_cast<int64_t>(planned.size()), plan.cells);
  for (const CellStatus& status : all_cells(Device::kHost)) {
    if (!status.reachable()) continue;
    EXPECT_TRUE(planned.contains(to_text(status.cell))) << to_text(status.cell);
  }
  const Matrix matrix(Device::kHost);
  for (const auto& [cell, entry] : matrix.cells()) {
    if (entry.state == CellState::kUnreachable) continue;
    const std::string text = to_text(cell);
    EXPECT_TRUE(planned.contains(text.substr(0, text.rfind(' ')))) << text;
  }
}

TEST(SlowPlan, EachCellIsPlannedForOnceByACaseThatReachesIt) {
  std::set<std::string> planned;
  for (const PlannedCase& one : plan_of_200_mib().cases) {
    const std::vector<std::string> cells = cells_predicted(one.c);
    const std::set<std::string> reached(cells.begin(), cells.end());
    for (const std::string& cell : one.cells) {
      EXPECT_TRUE(reached.contains(cell)) << cell;
      EXPECT_TRUE(planned.insert(cell).second) << cell;
    }
  }
}

TEST(Plan, NoCaseIsSuperfluous) {
  std::map<std::string, int> count;
  for (const PlannedCase& one : plan_of_200_mib().cases) {
    for (const std::string& cell : cells_predicted(one.c)) ++count[cell];
  }
  for (const PlannedCase& one : plan_of_200_mib().cases) {
    const std::vector<std::string> cells = cells_predicted(one.c);
    EXPECT_TRUE(std::any_of(cells.begin(), cells.end(), [&](const std::string& cell) { return count[cell] == 1; }))
        << to_text(one.c);
  }
}

TEST(Plan, LowerBoundIsBelowAndNear) {
  const Plan& plan = plan_of_200_mib();
  const auto cases = static_cast<int64_t>(plan.cases.size());
  EXPECT_LE(plan.lower_bound, cases);
  EXPECT_LE(cases, plan.lower_bound * 5 / 4);
  // Cells that no two share a case, whatever the candidates: a case has one path, range, direction, implementation and
  // dtype, and looks at the start once.
  std::set<std::string> apart;
  for (const PlannedCase& one : plan.cases) {
    for (const std::string& cell : one.cells) {
      const bool of_the_matrix = cell.find(" inner=") != std::string::npos || cell.find(" inner>") != std::string::npos;
      if (of_the_matrix && cell.find(" start ") != std::string::npos) apart.insert(cell);
    }
  }
  EXPECT_GE(plan.lower_bound, static_cast<int64_t>(apart.size()));
  EXPECT_GT(apart.size(), 100U);
}

TEST(Plan, EveryCaseFitsInItsMemory) {
  for (const PlannedCase& one : plan_of_200_mib().cases) {
    const Decomposition shape = shape_of(one.c);
    const Execution execution = as_predicted(one.c, shape, predict_here(one.c));
    EXPECT_LE(memory_needed(one.c, shape, execution.raw.looked_at, Device::kHost), 200 * kMiB);
  }
}

TEST(Plan, MemoryIsWhatARunReallyTakesAtMost) {
  Examiner examiner(Device::kHost);
  int looked_at = 0;
  for (size_t i = 0; i < plan_of_200_mib().cases.size(); i += 23) {
    const Case& c = plan_of_200_mib().cases[i].c;
    const Examination e = examiner.examine(c);
    if (e.execution.raw.ending != Ending::kCompleted) continue;
    EXPECT_LE(e.execution.raw.physical_bytes, memory_needed(c, e.shape, e.execution.raw.looked_at, Device::kHost))
        << to_text(c);
    ++looked_at;
  }
  EXPECT_GT(looked_at, 20);
}

TEST(SlowPlan, WhatMemoryLeavesOutIsSaid) {
  const Plan plan = make_plan({Device::kHost, 16384, std::nullopt}, predict_here);
  EXPECT_THAT(plan.cases, Not(IsEmpty()));
  EXPECT_THAT(plan.left_out, Not(IsEmpty()));
  EXPECT_EQ(plan.cells + static_cast<int64_t>(plan.left_out.size()), plan_of_200_mib().cells);
  for (const auto& [cell, reason] : plan.left_out) {
    EXPECT_THAT(reason, StartsWith("memory: the smallest case tried needs ")) << cell;
  }
}

TEST(Plan, WhatTimeLeavesOutIsSaid) {
  const Plan plan = make_plan({Device::kHost, 200 * kMiB, 1.0}, predict_here);
  EXPECT_LE(plan.seconds, 1.0);
  EXPECT_GT(plan.seconds, 0.9);
  EXPECT_EQ(plan.cells + static_cast<int64_t>(plan.left_out.size()), plan_of_200_mib().cells);
  for (const auto& [cell, reason] : plan.left_out) EXPECT_EQ(reason, "time") << cell;
  // What comes first reaches most.
  const auto share = static_cast<double>(plan.cells) / static_cast<double>(plan_of_200_mib().cells);
  EXPECT_GT(share, 2 * static_cast<double>(plan.cases.size()) / static_cast<double>(plan_of_200_mib().cases.size()));
}

TEST(SlowPlan, OnAGpuLargeTensorsAreDenseWhereTheyFit) {
  const auto kinds_with = [](int64_t memory) {
    const Plan plan = make_plan({Device::kCuda, memory, std::nullopt}, [](const Case& c) {
      return predict(c, *model_of(Device::kCuda, c.implementation), Engine::kAuto);
    });
    std::map<MemoryKind, int64_t> largest;
    for (const PlannedCase& one : plan.cases) {
      int64_t& bytes = largest[one.c.memory];
      bytes = std::max(bytes, shape_of(one.c).numel() * size_of(one.c.dtype));
    }
    return largest;
  };
  const auto small = kinds_with(200 * kMiB);
  EXPECT_LE(small.at(MemoryKind::kDense), 100 * kMiB);
  EXPECT_GT(small.at(MemoryKind::kAliased), int64_t{32} << 30);
  const auto large = kinds_with(int64_t{30} << 30);
  EXPECT_GT(large.at(MemoryKind::kDense), int64_t{8} << 30);
  EXPECT_FALSE(large.contains(MemoryKind::kSparse));
}

TEST(Plan, OnAGpuFewThreadsTakeLong) {
  const auto predict_h200 = [](const Case& c) { return predict(c, *model_of(Device::kCuda, c.implementation)); };
  const Plan plan = make_plan({Device::kCuda, 200 * kMiB, std::nullopt}, predict_h200);
  int long_rows = 0;
  int many_rows = 0;
  for (const PlannedCase& one : plan.cases) {
    const Decomposition shape = shape_of(one.c);
    const Prediction prediction = predict_h200(one.c);
    if (shape.numel() < int64_t{1} << 32 || prediction.verdict != Verdict::kOk) continue;
    if (shape.inner_size == 1 && shape.outer_size <= 4) {
      EXPECT_GT(one.seconds, 0.5) << to_text(one.c);
      ++long_rows;
    }
    if (shape.inner_size == 1 && shape.outer_size >= int64_t{1} << 20) {
      EXPECT_LT(one.seconds, 0.5) << to_text(one.c);
      ++many_rows;
    }
  }
  EXPECT_GT(long_rows, 10);
  EXPECT_GT(many_rows, 10);
  EXPECT_GT(plan.lower_bound_seconds, plan.seconds / 2);
  EXPECT_LE(plan.lower_bound_seconds, plan.seconds);
}

TEST(SlowPlan, SameLimitsGiveTheSameBytes) {
  EXPECT_EQ(to_text(make_plan({Device::kHost, 200 * kMiB, std::nullopt}, predict_here)), to_text(plan_of_200_mib()));
}

// Three cases, so that running them is cheap.
Plan small_plan() {
  Plan plan;
  plan.limits.memory = kMiB;
  plan.candidates = 7;
  plan.lower_bound = 2;
  for (const char* shape : {"[1,2,2147483649]", "[2,3]", "[70000,65,2]"}) {
    const auto c = parse_case(
        R"({"brink_case":1,"operation":"softmax_backward","axis":1,"dtype":"f16","implementation":"dispatched","shape":)" +
        std::string(shape) + "}");
    PlannedCase one{std::get<Case>(c), 0.5, cells_predicted(std::get<Case>(c))};
    plan.cells += static_cast<int64_t>(one.cells.size());
    plan.cases.push_back(std::move(one));
  }
  plan.left_out["somewhere"] = "time";
  return plan;
}

CheckReport run(const Plan& plan) {
  CheckOptions options;
  options.plan = plan;
  return check(options, [](const CheckReport&) {});
}

TEST(Plan, TextReadsBackAsItWas) {
  const Plan plan = small_plan();
  const auto parsed = parse_plan(to_text(plan));
  ASSERT_TRUE(std::holds_alternative<Plan>(parsed)) << std::get<std::string>(parsed);
  EXPECT_EQ(to_text(std::get<Plan>(parsed)), to_text(plan));
}

TEST(Plan, BrokenTextIsOneLineThatNamesTheLine) {
  const std::string text = to_text(small_plan());
  const auto error_of = [](const std::string& broken) {
    const auto parsed = parse_plan(broken);
    return std::holds_alternative<std::string>(parsed) ? std::get<std::string>(parsed) : "";
  };
  EXPECT_THAT(error_of(""), HasSubstr("the file is empty"));
  EXPECT_THAT(error_of(text.substr(0, text.size() - 20)), StartsWith("line 4: not JSON"));
  EXPECT_THAT(error_of(text.substr(0, text.find('\n') + 1)), HasSubstr("the plan was cut off"));
  EXPECT_THAT(error_of("{}\n"), StartsWith("line 1: field \"brink_plan\" is missing"));
  EXPECT_THAT(error_of("7\n"), StartsWith("line 1: not an object"));
  std::string other = text;
  other.replace(other.find("\"host\""), 6, "\"moon\"");
  EXPECT_THAT(error_of(other), StartsWith("line 1: field \"device\""));
  other = text;
  other.replace(other.find("\"shape\""), 7, "\"shpae\"");
  EXPECT_THAT(error_of(other), StartsWith("line 2: field \"shpae\" is not known"));
}

TEST(Plan, RunThatReachesEveryPlannedCellPasses) {
  const CheckReport report = run(small_plan());
  EXPECT_EQ(report.examined, 3);
  EXPECT_THAT(report.plan_missing, IsEmpty());
  EXPECT_EQ(report.exit_status(), 0);
}

TEST(Plan, PlannedCellThatNoCaseReachesFailsTheRun) {
  Plan plan = small_plan();
  plan.cases[1].cells.push_back("spatial/columns backward u32 element_offset 2^32-1 above end resident");
  const CheckReport report = run(plan);
  EXPECT_THAT(report.plan_missing, ElementsAre(plan.cases[1].cells.back()));
  EXPECT_EQ(report.exit_status(), 3);
}

TEST(Plan, CaseThatIsNotExecutedFailsTheRun) {
  Plan plan = small_plan();
  plan.cases[2].c.memory = MemoryKind::kDense;
  plan.cases[2].c.shape = {16777217, 64, 2};  // the host does not take on every thread of it
  const CheckReport report = run(plan);
  EXPECT_EQ(report.not_executed.size(), 1U);
  EXPECT_THAT(report.plan_missing, Not(IsEmpty()));
  EXPECT_EQ(report.exit_status(), 3);
}

}  // namespace
}  // namespace brink
