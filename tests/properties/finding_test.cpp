#include "properties/finding.h"

#include <gtest/gtest.h>

#include "properties/replay.h"

namespace brink {
namespace {

Finding seed_finding() {
  Case c;
  c.shape = {1, 2, 2147483649};
  c.axis = 1;
  c.implementation = *parse_implementation("spatial/u32");
  Examiner examiner(Device::kHost);
  const Examination e = examiner.examine(c);
  return finding_of(e, Device::kHost, Role::kUser, findings(e, Role::kUser));
}

std::string error_of(const std::string& text) {
  const auto parsed = parse_finding(text);
  const auto* error = std::get_if<std::string>(&parsed);
  return error == nullptr ? "" : *error;
}

TEST(Finding, ComesBackFromItsText) {
  Finding finding = seed_finding();
  finding.count = 12;
  EXPECT_EQ(finding.cause, "softmax_backward spatial u32 element_offset mismatch");
  EXPECT_EQ(file_name_of(finding.cause), "softmax_backward-spatial-u32-element_offset-mismatch");
  const std::string text = to_text(finding);
  const auto parsed = parse_finding(text);
  ASSERT_TRUE(std::holds_alternative<Finding>(parsed)) << std::get<std::string>(parsed);
  const Finding& back = std::get<Finding>(parsed);
  EXPECT_EQ(back.smallest, finding.smallest);
  EXPECT_EQ(back.count, 12);
  EXPECT_EQ(back.lines, finding.lines);
  EXPECT_EQ(to_text(back), text);
}

TEST(Finding, KeepsTheLimitThatMadeIt) {
  Case c;
  c.shape = {5, 7, 1500000};
  c.axis = 1;
  c.implementation = *parse_implementation("workspace");
  Examiner examiner(Device::kHost, {30, int64_t{100} << 20}, Isolation::kAlways);
  const Examination e = examiner.examine(c);
  ASSERT_EQ(e.observed.verdict, Verdict::kOutOfMemory) << e.observed.reason;
  const Finding finding = finding_of(e, Device::kHost, Role::kUser, findings(e, Role::kUser));
  EXPECT_EQ(finding.limits, (RunLimits{60, int64_t{100} << 20})) << "its time has nothing to do with it";
  EXPECT_TRUE(repeat_command(finding).ends_with(" --memory-limit 104857600")) << repeat_command(finding);
  const auto parsed = parse_finding(to_text(finding));
  ASSERT_TRUE(std::holds_alternative<Finding>(parsed)) << std::get<std::string>(parsed);
  EXPECT_EQ(std::get<Finding>(parsed).limits, finding.limits);

  Examiner usual(Device::kHost, {}, Isolation::kAlways);
  EXPECT_TRUE(replay(usual, finding).problems.empty());
  EXPECT_FALSE(replay(usual, finding, [](const RunLimits&) { return RunLimits(); }).problems.empty())
      << "with the usual memory it is right";
}

TEST(Finding, BrokenTextNamesTheField) {
  const std::string text = to_text(seed_finding());
  const auto with = [&](const char* field, const nlohmann::ordered_json& value) {
    auto j = nlohmann::ordered_json::parse(text);
    j[field] = value;
    return error_of(j.dump());
  };
  EXPECT_EQ(error_of(text), "");
  EXPECT_NE(error_of("{").find("not JSON"), std::string::npos);
  EXPECT_EQ(error_of("[]"), "a finding is a JSON object");
  EXPECT_EQ(error_of("{}"), "field \"brink_finding\" is missing");
  EXPECT_NE(with("brink_finding", 2).find("version 2"), std::string::npos);
  EXPECT_NE(with("count", 0).find("\"count\""), std::string::npos);
  EXPECT_NE(with("count", -1).find("\"count\""), std::string::npos);
  EXPECT_NE(with("device", "tpu").find("\"device\""), std::string::npos);
  EXPECT_NE(with("role", 1).find("\"role\""), std::string::npos);
  EXPECT_NE(with("case", nlohmann::ordered_json::object()).find("case: "), std::string::npos);
  EXPECT_NE(with("lines", "x").find("\"lines\""), std::string::npos);
  EXPECT_NE(with("prediction", nullptr).find("\"prediction\""), std::string::npos);
  EXPECT_NE(with("limits", 1).find("\"limits\""), std::string::npos);
  EXPECT_NE(with("limits", {{"seconds", 0}, {"memory", 1}}).find("\"seconds\""), std::string::npos);
  EXPECT_NE(with("limits", {{"seconds", 1}, {"memory", 0}}).find("\"memory\""), std::string::npos);
  EXPECT_EQ(error_of(R"({"brink_finding":1,"brink_finding":1})"), "field \"brink_finding\" appears twice");
}

}  // namespace
}  // namespace brink
