#include "fuzz/case_mutation.h"

#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "fuzz/boundary_counters.h"

namespace brink {
namespace {

Case tiny_case(const MutationLimits& limits) {
  Draws draws(1);
  return mutate(Case{}, draws, limits);
}

MutationLimits limits_for(std::vector<std::string> implementations) {
  MutationLimits limits;
  limits.implementations.clear();
  for (const std::string& name : implementations) limits.implementations.push_back(*parse_implementation(name));
  return limits;
}

TEST(CaseMutation, ResultsStayWithinTheLimits) {
  MutationLimits limits;
  limits.memories = {MemoryKind::kSparse, MemoryKind::kDense};
  limits.operations = {Operation::kSoftmaxBackward, Operation::kLogSoftmaxBackward};
  Draws draws(11);
  std::vector<Case> cases(50);
  for (int i = 0; i < 20'000; ++i) {
    Case& c = cases[static_cast<size_t>(draws.below(static_cast<int64_t>(cases.size())))];
    c = draws.chance(80) ? mutate(c, draws, limits) : crossover(c, draws.pick(cases), draws, limits);
    ASSERT_EQ(refusal_of(c, limits), "") << to_text(c);
  }
}

TEST(CaseMutation, OneOfAnImplementationAndAnOperationIsEnough) {
  for (const char* name : {"spatial/u32", "last_dim/i32", "spatial/i8", "dispatched/u16"}) {
    MutationLimits limits = limits_for({name});
    limits.operations = {Operation::kLogSoftmaxForward};
    limits.dtypes = {DType::kBF16};
    Draws draws(12);
    Case c;
    std::set<std::vector<int64_t>> shapes;
    for (int i = 0; i < 500; ++i) {
      c = mutate(c, draws, limits);
      ASSERT_EQ(refusal_of(c, limits), "") << to_text(c);
      shapes.insert(c.shape);
    }
    EXPECT_GT(shapes.size(), 200u) << name;
  }
}

TEST(CaseMutation, TheSameDrawsGiveTheSameCases) {
  const MutationLimits limits;
  Draws one(13);
  Draws other(13);
  Case a;
  Case b;
  for (int i = 0; i < 1000; ++i) {
    a = mutate(a, one, limits);
    b = mutate(b, other, limits);
    ASSERT_EQ(a, b);
  }
}

TEST(CaseMutation, AMutationChangesTheCase) {
  const MutationLimits limits;
  Draws draws(14);
  Case c = tiny_case(limits);
  int same = 0;
  for (int i = 0; i < 2000; ++i) {
    const Case next = mutate(c, draws, limits);
    if (next == c) ++same;
    c = next;
  }
  EXPECT_LT(same, 10);
}

// As the fuzzer does: a case that sets a new counter joins the corpus that mutations start from. Every target that the
// generator solves for on the host is reached in this way from one small case.
TEST(CaseMutation, BothSidesOfEachBoundaryAreReachedFromASmallCase) {
  constexpr int kSteps = 20'000;
  for (const char* name : {"spatial/u32", "spatial/i64", "last_dim/i32", "last_dim/i64"}) {
    const MutationLimits limits = limits_for({name});
    GeneratorOptions options;
    options.implementations = limits.implementations;
    const CaseGenerator generator(options);
    std::set<std::tuple<Variant, Expression, Boundary, Side>> missing;
    for (const Target& target : generator.targets()) {
      if (target.side != Side::kAt) missing.insert({target.variant, target.expression, target.boundary, target.side});
    }
    ASSERT_GT(missing.size(), 10u);
    Draws draws(15);
    std::vector<Case> corpus = {tiny_case(limits)};
    std::set<size_t> counters;
    int steps = 0;
    for (; steps < kSteps && !missing.empty(); ++steps) {
      const Case c = mutate(draws.pick(corpus), draws, limits);
      const auto shape = std::get<Decomposition>(decompose(c));
      if (shape.numel() == 0) continue;
      const auto launch = std::get<Dispatch>(dispatch_within(c, limits));
      const size_t known = counters.size();
      for (const size_t counter : distance_counters(c, shape, launch)) counters.insert(counter);
      if (counters.size() > known) corpus.push_back(c);
      for (const Cell& cell : cells_of(c, shape, launch, {{0, shape.numel() - 1}}, LaunchForm::kResident)) {
        missing.erase({cell.variant, cell.expression, cell.boundary, cell.side});
      }
    }
    for (const auto& [variant, expression, boundary, side] : missing) {
      ADD_FAILURE() << name << ": not reached in " << kSteps << " steps: " << name_of(variant) << " "
                    << name_of(expression) << " " << name_of(boundary) << " " << name_of(side);
    }
    std::cout << name << ": " << steps << " steps, " << corpus.size() << " cases kept\n";
  }
}

TEST(CaseMutation, ConfiningKeepsTheShape) {
  Case c;
  c.shape = {3, 4, 5};
  c.axis = 2;
  c.dtype = DType::kF64;
  c.memory = MemoryKind::kDense;
  MutationLimits limits = limits_for({"spatial/u32"});
  limits.dtypes = {DType::kF16};
  limits.operations = {Operation::kSoftmaxForward};
  const Case confined_case = confined(c, limits);
  EXPECT_EQ(confined_case.shape, c.shape);
  EXPECT_EQ(confined_case.axis, c.axis);
  EXPECT_EQ(confined_case.implementation.name(), "spatial/u32");
  EXPECT_EQ(confined_case.dtype, DType::kF16);
  EXPECT_EQ(confined_case.operation, Operation::kSoftmaxForward);
  EXPECT_EQ(confined_case.memory, MemoryKind::kSparse);
}

}  // namespace
}  // namespace brink
