#include <gtest/gtest.h>

#include "fuzz/finding_store.h"
#include "fuzz/job_progress.h"
#include "fuzz/launch_check.h"
#include "fuzz/oracle_check.h"
#include "fuzz/parser_check.h"
#include "properties/finding.h"
#include "properties/generator.h"

namespace brink {
namespace {

TEST(OracleCheck, IsSilentForScaleModels) {
  const MutationLimits limits = oracle_limits();
  Draws draws(31);
  Case c;
  for (int i = 0; i < 150; ++i) {
    c = mutate(c, draws, limits);
    const auto shape = std::get<Decomposition>(decompose(c));
    if (shape.numel() > 4096) continue;
    ASSERT_EQ(oracle_problem(c), "") << to_text(c);
  }
}

TEST(ParserCheck, IsSilentForCasesFindingsAndNonsense) {
  GeneratorOptions options;
  options.exact_prime = false;
  for (const Case& c : generate_cases(5, 200, options)) {
    ASSERT_EQ(parser_problem(to_text(c)), "");
    Finding finding;
    finding.cause = "cause";
    finding.smallest = c;
    finding.lines = {"line"};
    ASSERT_EQ(parser_problem(to_text(finding)), "");
    ASSERT_EQ(parser_problem(to_text(FindingGroups{{finding.cause, finding}})), "");
  }
  EXPECT_EQ(parser_problem(to_text(JobProgress{})), "");
  for (const char* text : {"", "\n", "{", "[1,2]", "{\"brink_case\":1}", "{\"brink_finding\":1}", "\xff\xfe"}) {
    EXPECT_EQ(parser_problem(text), "") << text;
  }
}

TEST(LaunchCheck, IsSilentOnDevicesOfAllKinds) {
  GeneratorOptions options;
  options.exact_prime = false;
  options.implementations = all_implementations();
  Draws draws(32);
  for (const Case& c : generate_cases(6, 1000, options)) {
    if (std::get<Decomposition>(decompose(c)).numel() == 0) continue;
    std::vector<uint8_t> device(BytesOccupancy::kBytes);
    for (uint8_t& byte : device) byte = static_cast<uint8_t>(draws.next() >> 56);
    BytesOccupancy occupancy(device);
    ASSERT_EQ(launch_problem(c, occupancy), "") << to_text(c);
  }
}

// A device that answers differently each time: a block that was chosen is refused when asked again.
TEST(LaunchCheck, NoticesABlockThatTheDeviceRefuses) {
  class Moody : public OccupancyQuery {
   public:
    Occupancy resident_blocks(const KernelId&, int64_t, int64_t) override { return {"", calls_++ == 0 ? 10 : 0}; }

   private:
    int calls_ = 0;
  };
  Case c;
  c.shape = {2, 3, 5};
  c.axis = 1;
  c.implementation = *parse_implementation("spatial/u32");
  Moody occupancy;
  EXPECT_EQ(launch_problem(c, occupancy), "the device refuses the block that was chosen");
}

}  // namespace
}  // namespace brink
