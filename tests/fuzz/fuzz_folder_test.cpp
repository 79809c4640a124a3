#include "fuzz/fuzz_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "properties/whole_file.h"

namespace brink {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FuzzFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "brink_fuzz_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_.root = pattern;
    for (const std::string& path : {folder_.corpus(), folder_.findings(), folder_.job("a"), folder_.job("b")}) {
      ASSERT_EQ(make_folder(path), "");
    }
  }
  void TearDown() override { fs::remove_all(folder_.root); }

  FuzzFolder folder_;
};

Finding finding_with(int64_t inner, const std::string& cause) {
  Finding finding;
  finding.cause = cause;
  finding.smallest.shape = {1, 2, inner};
  finding.smallest.axis = 1;
  finding.lines = {"it is mismatch"};
  finding.prediction = {{"verdict", "mismatch"}};
  finding.observation = finding.prediction;
  return finding;
}

TEST_F(FuzzFolderTest, AGroupKeepsItsSmallestCaseAndCounts) {
  FindingStore store(folder_.job("a") + "/findings.json");
  EXPECT_EQ(store.load(), "");
  for (const int64_t inner : {500, 300, 400}) EXPECT_EQ(store.add(finding_with(inner, "one")), "");
  EXPECT_EQ(store.add(finding_with(7, "two")), "");
  FindingStore again(folder_.job("a") + "/findings.json");
  ASSERT_EQ(again.load(), "");
  EXPECT_EQ(to_text(again.groups()), to_text(store.groups()));
  ASSERT_EQ(again.groups().size(), 2u);
  EXPECT_EQ(again.groups().at("one").count, 3);
  EXPECT_THAT(again.groups().at("one").smallest.shape, ElementsAre(1, 2, 300));
}

TEST_F(FuzzFolderTest, TheSummaryIsTheUnionOfTheJobs) {
  for (const auto& [job, inner] : {std::pair{"a", 500}, std::pair{"b", 300}}) {
    FindingStore store(folder_.job(job) + "/findings.json");
    ASSERT_EQ(store.add(finding_with(inner, "one")), "");
    ASSERT_EQ(store.add(finding_with(inner, job)), "");
    JobProgress progress;
    progress.cases = inner;
    progress.executed = inner - 1;
    progress.verdicts = {{"ok", inner - 1}};
    progress.not_executed = {{"no memory", 1}};
    progress.cells = {"both", job};
    ASSERT_EQ(write_whole(folder_.job(job) + "/progress.json", to_text(progress)), "");
  }
  const FuzzSummary summary = summarize(folder_);
  EXPECT_THAT(summary.troubles, IsEmpty());
  EXPECT_EQ(summary.total.cases, 800);
  EXPECT_EQ(summary.total.executed, 798);
  EXPECT_EQ(summary.total.not_executed.at("no memory"), 2);
  EXPECT_THAT(summary.total.cells, ElementsAre("a", "b", "both"));
  ASSERT_EQ(summary.findings.size(), 3u);
  EXPECT_EQ(summary.findings.at("one").count, 2);
  EXPECT_THAT(summary.findings.at("one").smallest.shape, ElementsAre(1, 2, 300));
  ASSERT_EQ(write_findings(folder_, summary.findings), "");
  EXPECT_THAT(names_in(folder_.findings()), ElementsAre("a.json", "b.json", "one.json"));
}

TEST_F(FuzzFolderTest, ABrokenFileIsNamedAndTheOthersCount) {
  FindingStore store(folder_.job("a") + "/findings.json");
  ASSERT_EQ(store.add(finding_with(500, "one")), "");
  std::ofstream(folder_.job("b") + "/findings.json") << R"({"brink_findings":1,"findings":[{"brink)";
  std::ofstream(folder_.job("b") + "/progress.json") << "{}";
  const FuzzSummary summary = summarize(folder_);
  EXPECT_EQ(summary.findings.size(), 1u);
  ASSERT_EQ(summary.troubles.size(), 2u);
  EXPECT_THAT(summary.troubles[0], HasSubstr("/b/progress.json"));
  EXPECT_THAT(summary.troubles[1], HasSubstr("/b/findings.json: not JSON"));
}

TEST_F(FuzzFolderTest, ACorpusFileHasItsNameFromItsCase) {
  Case c;
  c.shape = {2, 3};
  EXPECT_EQ(keep(folder_, c), "");
  EXPECT_EQ(keep(folder_, c), "");
  c.seed = 1;
  EXPECT_EQ(keep(folder_, c), "");
  std::ofstream(folder_.corpus() + "/x.json.host.1.unfinished") << "{";
  EXPECT_EQ(names_in(folder_.corpus()).size(), 2u);
}

TEST(JobProgress, BrokenTextIsRefusedInOneLine) {
  for (const char* text : {"", "[]", "{}", R"({"brink_job":2})", R"({"brink_job":1,"device":3})"}) {
    const auto parsed = parse_job_progress(text);
    ASSERT_TRUE(std::holds_alternative<std::string>(parsed)) << text;
    EXPECT_THAT(std::get<std::string>(parsed), testing::Not(HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace brink
