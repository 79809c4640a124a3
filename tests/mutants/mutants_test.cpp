#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <set>
#include <string>

#include "tests/mutants/detection.h"

namespace brink {
namespace {

struct Mutant {
  const char* name;
  uint32_t id;
  const char* file;
  const char* original;
  const char* mutated;
};

const Mutant kMutants[] = {
#include "mutants.inc"
};

void PrintTo(const Mutant& mutant, std::ostream* out) { *out << mutant.name; }

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class CheckTest : public testing::TestWithParam<Check> {};

TEST_P(CheckTest, IsSilentWithoutMutants) { EXPECT_EQ(problem_of(GetParam()), ""); }

class MutantTest : public testing::TestWithParam<Mutant> {
 protected:
  void SetUp() override { active_mutant = GetParam().id; }
  void TearDown() override { active_mutant = 0; }
};

TEST_P(MutantTest, IsCaughtWhere) {
  const Mutant& mutant = GetParam();
  const auto start = std::chrono::steady_clock::now();
  for (const Check& check : all_checks()) {
    if (const std::string problem = problem_of(check); !problem.empty()) {
      std::cout << "caught by " << check.name << " (" << seconds_since(start) << " s): " << problem << "\n";
      return;
    }
  }
  FAIL() << "no check notices this change in " << mutant.file << ":\n  original: " << mutant.original
         << "\n  mutated:  " << mutant.mutated;
}

TEST(Mutants, ThereAreAtLeastTwentyAndEachIsAnother) {
  std::set<uint32_t> ids;
  for (const Mutant& mutant : kMutants) EXPECT_TRUE(ids.insert(mutant.id).second) << mutant.name;
  EXPECT_GE(ids.size(), 20u);
}

INSTANTIATE_TEST_SUITE_P(Mutants, CheckTest, testing::ValuesIn(all_checks()),
                         [](const testing::TestParamInfo<Check>& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Mutants, MutantTest, testing::ValuesIn(kMutants),
                         [](const testing::TestParamInfo<Mutant>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace brink
