#include "properties/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <set>

#include "properties/oracle.h"
#include "properties/simplicity.h"
#include "properties/windows.h"

namespace brink {
namespace {

constexpr int kCount = 10000;

GeneratorOptions host_options() {
  GeneratorOptions options;
  options.device = Device::kHost;
  return options;
}

const std::vector<Case>& ten_thousand() {
  static const std::vector<Case> cases = generate_cases(7, kCount, host_options());
  return cases;
}

Decomposition shape_of(const Case& c) { return std::get<Decomposition>(decompose(c)); }

// What the case will launch, if anything; where that is rejected, what was wanted.
std::optional<Dispatch> launch_of(const Case& c) {
  const Decomposition shape = shape_of(c);
  if (shape.numel() == 0) return std::nullopt;
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  return counted_launch(c.implementation, shape, c.operation, c.dtype, occupancy);
}

std::vector<Cell> cells_predicted(const Case& c) {
  const auto launch = launch_of(c);
  if (!launch) return {};
  const Decomposition shape = shape_of(c);
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  const auto windows = choose_windows(c, shape, predict(c, occupancy, Engine::kSymbolic));
  return cells_of(c, shape, *launch, windows, launch->sized.form);
}

std::string text_of(const std::vector<Case>& cases) {
  std::string text;
  for (const Case& c : cases) text += to_text(c);
  return text;
}

TEST(SlowGenerator, TenThousandCasesReachEveryReachableCellOfTheHost) {
  std::set<Cell> reached;
  for (const Case& c : ten_thousand()) {
    if (c.implementation.scaled()) continue;
    for (const Cell& cell : cells_predicted(c)) reached.insert(cell);
  }
  int missing = 0;
  for (const CellStatus& status : all_cells(Device::kHost)) {
    if (status.reachable() && !reached.contains(status.cell)) {
      ++missing;
      ADD_FAILURE() << "never reached: " << to_text(status.cell);
      if (missing > 10) return;
    }
    // What the solver calls out of reach must not be reached by chance.
    EXPECT_TRUE(status.reachable() || !reached.contains(status.cell)) << to_text(status.cell) << ": " << status.reason;
  }
}

TEST(SlowGenerator, AtLeastAThirdOfTheCasesLieNearABoundary) {
  int near = 0;
  for (const Case& c : ten_thousand()) {
    if (!c.implementation.scaled() && !cells_predicted(c).empty()) ++near;
  }
  std::cout << near << " of " << kCount << " cases lie within 4096 of a boundary at true width\n";
  EXPECT_GE(near, kCount / 3);
}

TEST(SlowGenerator, SameSeedGivesTheSameBytesAndAnotherSeedDoesNot) {
  const std::string text = text_of(generate_cases(7, 2000, host_options()));
  EXPECT_EQ(text, text_of(generate_cases(7, 2000, host_options())));
  EXPECT_NE(text, text_of(generate_cases(8, 2000, host_options())));
}

TEST(Generator, FewerCasesOfASeedAreTheFirstOfMore) {
  const auto few = generate_cases(7, 100, host_options());
  EXPECT_TRUE(std::equal(few.begin(), few.end(), ten_thousand().begin()));
}

TEST(Generator, BothPathsAreBalanced) {
  int spatial = 0;
  int executable = 0;
  for (const Case& c : ten_thousand()) {
    const auto launch = launch_of(c);
    if (!launch) continue;
    ++executable;
    spatial += launch->sized.path == Path::kSpatial ? 1 : 0;
  }
  EXPECT_GT(spatial, executable * 2 / 5);
  EXPECT_LT(spatial, executable * 3 / 5);
  // All but the empty ones, and no other path's.
  EXPECT_GT(executable, kCount * 9 / 10);
}

TEST(Generator, CasesAreValidAndReadBackTheSame) {
  for (const Case& c : ten_thousand()) {
    ASSERT_EQ(validate(c), "") << to_text(c);
    ASSERT_FALSE(c.shape.empty());
    ASSERT_LE(c.shape.size(), 6u) << to_text(c);
    const auto read = parse_case(to_text(c));
    ASSERT_TRUE(std::holds_alternative<Case>(read)) << std::get<std::string>(read);
    ASSERT_EQ(std::get<Case>(read), c);
  }
}

TEST(Generator, EveryRankSignAndKindOfCaseOccurs) {
  std::set<size_t> ranks;
  std::set<std::string> implementations;
  int empty = 0;
  int negative = 0;
  int ones = 0;
  int scaled = 0;
  for (const Case& c : ten_thousand()) {
    ranks.insert(c.shape.size());
    implementations.insert(c.implementation.name());
    empty += shape_of(c).numel() == 0 ? 1 : 0;
    negative += c.axis < 0 ? 1 : 0;
    ones += std::count(c.shape.begin(), c.shape.end(), 1) > 0 ? 1 : 0;
    scaled += c.implementation.scaled() ? 1 : 0;
  }
  EXPECT_EQ(ranks.size(), 6u);
  EXPECT_EQ(implementations.size(), default_implementations().size());
  EXPECT_GT(empty, kCount / 50);
  EXPECT_GT(negative, kCount / 20);
  EXPECT_GT(ones, kCount / 10);
  EXPECT_GT(scaled, kCount / 20);
}

TEST(Generator, OptionsRestrictWhatIsGenerated) {
  GeneratorOptions options = host_options();
  options.operations = {Operation::kLogSoftmaxBackward};
  options.implementations = {*parse_implementation("spatial/u32")};
  options.dtypes = {DType::kF32};
  for (const Case& c : generate_cases(3, 500, options)) {
    ASSERT_EQ(c.operation, Operation::kLogSoftmaxBackward);
    ASSERT_EQ(c.implementation.name(), "spatial/u32");
    ASSERT_EQ(c.dtype, DType::kF32);
  }
}

TEST(Generator, CudaCasesFitTheCard) {
  GeneratorOptions options;
  options.device = Device::kCuda;
  for (const Case& c : generate_cases(3, 2000, options)) {
    ASSERT_EQ(validate(c), "");
    ASSERT_EQ(c.memory, MemoryKind::kAliased);
    ASSERT_LE(shape_of(c).numel(), kGeneratedCudaNumelMax);
  }
}

TEST(SlowGenerator, EveryTargetIsHit) {
  GeneratorOptions options = host_options();
  options.exact_prime = false;
  const CaseGenerator generator(options);
  Draws draws(5);
  for (const Target& target : generator.targets()) {
    const Case c = generator.at(target, draws);
    const auto launch = launch_of(c);
    ASSERT_TRUE(launch.has_value()) << to_text(c);
    ASSERT_EQ(launch->index_type, target.index_type) << to_text(c);
    ASSERT_EQ(launch->sized.variant, target.variant) << to_text(c);
    ASSERT_EQ(!is_forward(c.operation), target.backward);
    const auto value = bounded_value(largest_values(shape_of(c), launch->sized, c.dtype), launch->sized.launch,
                                     target.expression, target.boundary);
    ASSERT_EQ(side_of(*value, target.boundary), target.side) << name_of(target.expression) << " " << to_text(c);
  }
}

TEST(Generator, MakesManyCasesPerSecond) {
  GeneratorOptions options = host_options();
  for (const bool exact_prime : {false, true}) {
    options.exact_prime = exact_prime;
    const CaseGenerator generator(options);
    const auto start = std::chrono::steady_clock::now();
    generator.generate(1, kCount);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::cout << kCount / seconds << " cases per second" << (exact_prime ? " with the prime's choice\n" : "\n");
    EXPECT_GT(kCount / seconds, 1000);
  }
}

TEST(BoundaryCase, IsARapidCheckGeneratorThatShrinks) {
  const auto gen = boundary_case(host_options());
  rc::Random random(11);
  for (int i = 0; i < 50; ++i) {
    // RapidCheck's size must not matter: small sizes would never get near a boundary.
    const auto shrinkable = gen(random.split(), i);
    const Case c = shrinkable.value();
    ASSERT_EQ(validate(c), "");
    const auto first = shrinkable.shrinks().next();
    if (!simpler(c).empty()) {
      ASSERT_TRUE(static_cast<bool>(first));
      ASSERT_EQ(first->value(), simpler(c).front());
    }
  }
}

}  // namespace
}  // namespace brink
