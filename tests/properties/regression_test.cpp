#include "properties/regression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "properties/replay.h"
#include "properties/whole_file.h"

namespace brink {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Case small_case() {
  Case c;
  c.shape = {3, 5, 40};
  c.axis = 1;
  c.implementation = *parse_implementation("spatial/u8");
  return c;
}

Regression small_regression() {
  Examiner examiner(Device::kHost);
  const Examination e = examiner.examine(small_case());
  return regression_of(shrink(examiner, e, Role::kUser), small_case(), Device::kHost);
}

Replayed replayed(const SavedCase& saved) {
  Examiner examiner(Device::kHost);
  return replay(examiner, saved);
}

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/brink-regression-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

TEST(Regression, ComesBackFromItsText) {
  Regression r = small_regression();
  r.comment = "https://example.org/1";
  EXPECT_EQ(r.expected[0].first.name(), "spatial/u8");
  EXPECT_EQ(r.expected[1].first.name(), "dispatched/u8");
  const std::string text = to_text(r);
  const auto parsed = parse_regression(text);
  ASSERT_TRUE(std::holds_alternative<Regression>(parsed)) << std::get<std::string>(parsed);
  EXPECT_EQ(to_text(std::get<Regression>(parsed)), text);
  EXPECT_EQ(std::get<Regression>(parsed).shrunk_from, small_case());
}

TEST(Regression, BrokenTextNamesTheField) {
  const std::string text = to_text(small_regression());
  const auto error = [](const std::string& broken) {
    const auto parsed = parse_saved_case(broken);
    const auto* message = std::get_if<std::string>(&parsed);
    return message == nullptr ? "" : *message;
  };
  EXPECT_EQ(error(text), "");
  EXPECT_THAT(error(text.substr(0, text.size() / 2)), HasSubstr("not JSON"));
  for (const char* name : {"name", "comment", "expression", "case", "device", "expected", "agree", "prediction",
                           "observation", "shrunk_from", "runs"}) {
    auto j = nlohmann::ordered_json::parse(text);
    j.erase(name);
    EXPECT_THAT(error(j.dump()), HasSubstr(name)) << name;
    j[name] = nullptr;
    EXPECT_THAT(error(j.dump()), HasSubstr(name)) << name;
  }
  auto j = nlohmann::ordered_json::parse(text);
  j["expected"] = {{"dispatched/u8", "ok"}};
  EXPECT_THAT(error(j.dump()), HasSubstr("does not begin with spatial/u8"));
  j["expected"] = {{"spatial/u8", "fine"}};
  EXPECT_THAT(error(j.dump()), HasSubstr("\"fine\""));
  j["brink_regression"] = 2;
  EXPECT_THAT(error(j.dump()), HasSubstr("version 2"));
}

TEST(WriteRegression, NamesFilesAfterTheCauseAndKeepsComments) {
  const Folder folder;
  Regression r = small_regression();
  r.comment = "a report";
  std::string path = folder.path("new/deep");
  ASSERT_EQ(write_regression(r, path), "");
  EXPECT_EQ(path, folder.path("new/deep/" + r.name + ".json"));
  r.comment = "";
  std::string again = folder.path("new/deep");
  ASSERT_EQ(write_regression(r, again), "");
  EXPECT_EQ(again, path);
  std::string text;
  ASSERT_EQ(read_whole(path, text), "");
  EXPECT_EQ(std::get<Regression>(parse_regression(text)).comment, "a report");
}

TEST(WriteRegression, NeverReplacesAnotherCase) {
  const Folder folder;
  Regression r = small_regression();
  std::string path = folder.path("");
  ASSERT_EQ(write_regression(r, path), "");
  Regression other = r;
  other.c.seed = 1;
  std::string second = folder.path("");
  ASSERT_EQ(write_regression(other, second), "");
  EXPECT_THAT(second, HasSubstr("-2.json"));
  EXPECT_THAT(write_regression(other, path), HasSubstr("holds another case"));
  std::string text;
  ASSERT_EQ(read_whole(path, text), "");
  EXPECT_EQ(std::get<Regression>(parse_regression(text)).c, r.c);
}

TEST(Replay, ARegressionThatFailsAsItDidIsAsItMustBe) {
  const Replayed result = replayed(small_regression());
  EXPECT_THAT(result.problems, IsEmpty());
  EXPECT_THAT(result.not_executed, IsEmpty());
  EXPECT_EQ(result.runs, 2);
}

TEST(Replay, AnotherVerdictThanTheExpectedOneIsAProblem) {
  for (const size_t which : {0, 1}) {
    Regression r = small_regression();
    r.expected[which].second = Verdict::kHang;
    const Replayed result = replayed(r);
    ASSERT_THAT(result.problems, SizeIs(1));
    EXPECT_THAT(result.problems[0], HasSubstr("expected hang"));
    EXPECT_THAT(result.repeats, SizeIs(1));
  }
}

TEST(Replay, AReplicaThatIsRightIsAProblem) {
  Regression r = small_regression();
  r.c.implementation = *parse_implementation("spatial/i64");
  r.expected[0].first = r.c.implementation;
  EXPECT_THAT(replayed(r).problems, testing::Contains(HasSubstr("spatial/i64 is ok, expected mismatch")));
}

TEST(Replay, AnotherExpressionAndOtherElementsAreProblems) {
  Regression r = small_regression();
  r.expression = "outer_base";
  EXPECT_THAT(replayed(r).problems, testing::Contains(HasSubstr("recorded \"outer_base\"")));
  r = small_regression();
  r.observation["wrong"] = nlohmann::ordered_json::array();
  EXPECT_THAT(replayed(r).problems, testing::Contains(HasSubstr("observation: wrong")));
  r = small_regression();
  r.prediction["never_written"] = nlohmann::ordered_json::array();
  EXPECT_THAT(replayed(r).problems, testing::Contains(HasSubstr("prediction: never_written")));
  r = small_regression();
  r.agree = false;
  EXPECT_THAT(replayed(r).problems, testing::Contains(HasSubstr("agree now")));
}

TEST(Replay, WhatDoesNotRunIsNoPass) {
  Regression r = small_regression();
  r.c.shape = {3, 5};  // another path
  r.c.axis = 1;
  const Replayed result = replayed(r);
  EXPECT_FALSE(result.not_executed.empty());
}

TEST(Replay, AFindingMustFailForItsCause) {
  Examiner examiner(Device::kHost);
  const Examination e = examiner.examine(small_case());
  Finding finding = finding_of(e, Device::kHost, Role::kUser, findings(e, Role::kUser));
  EXPECT_THAT(replayed(finding).problems, IsEmpty());
  finding.cause = "softmax_backward spatial u8 element_offset hang";
  EXPECT_THAT(replayed(finding).problems, SizeIs(1));
  finding.smallest.implementation = *parse_implementation("dispatched");
  EXPECT_THAT(replayed(finding).problems, testing::ElementsAre(HasSubstr("no finding")));
}

TEST(Replay, AKnownDefectAsAPlainCaseFailsAsPredicted) { EXPECT_THAT(replayed(small_case()).problems, IsEmpty()); }

TEST(OnDevice, SparseMemoryIsAliasedOnAGpuAndBack) {
  Case c = small_case();
  EXPECT_EQ(on_device(c, Device::kHost, Device::kCuda).memory, MemoryKind::kAliased);
  EXPECT_EQ(on_device(c, Device::kHost, Device::kHost).memory, MemoryKind::kSparse);
  c.memory = MemoryKind::kAliased;
  EXPECT_EQ(on_device(c, Device::kCuda, Device::kHost).memory, MemoryKind::kSparse);
  EXPECT_EQ(on_device(c, Device::kHost, Device::kHost).memory, MemoryKind::kAliased);
  c.memory = MemoryKind::kDense;
  EXPECT_EQ(on_device(c, Device::kHost, Device::kCuda).memory, MemoryKind::kDense);
}

}  // namespace
}  // namespace brink
