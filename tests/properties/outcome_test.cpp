#include "properties/outcome.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace brink {
namespace {

std::vector<std::string> keys_of(const nlohmann::ordered_json& j) {
  std::vector<std::string> keys;
  for (const auto& item : j.items()) keys.push_back(item.key());
  return keys;
}

Outcome full_outcome() {
  Outcome o;
  o.verdict = Verdict::kMismatch;
  o.path = Path::kSpatial;
  o.variant = Variant::kColumns;
  o.index_type = IndexType::kU32;
  o.launch = Launch{1, 1024, 3, 65535, 64};
  o.first_overflow = FirstOverflow{{Expression::kElementOffset, Exact{1} << 32, 0}, Position{0, 1, 2147483647}};
  o.wrong = {{{0, 0}, {0, 0}, {2147483647, 2147483648}}};
  o.never_written = {{{0, 0}, {1, 1}, {2147483647, 2147483648}}};
  o.contended = {{{0, 0}, {0, 0}, {0, 1}}};
  o.out_of_bounds = {{-128, -57}};
  return o;
}

TEST(Outcome, JsonHasEveryPart) {
  const nlohmann::ordered_json j = to_json(full_outcome());
  const nlohmann::ordered_json expected = nlohmann::ordered_json::parse(R"({
    "verdict": "mismatch", "path": "spatial", "variant": "columns", "index_type": "u32",
    "launch": {"grid": [3, 65535, 1], "block": [1, 1024, 1], "shared_bytes": 64, "form": "resident"},
    "first_overflow": {"expression": "element_offset", "exact": 4294967296, "wrapped": 0,
                       "where": {"outer": 0, "dim": 1, "inner": 2147483647}},
    "wrong": [{"outer": [0, 0], "dim": [0, 0], "inner": [2147483647, 2147483648]}],
    "never_written": [{"outer": [0, 0], "dim": [1, 1], "inner": [2147483647, 2147483648]}],
    "contended": [{"outer": [0, 0], "dim": [0, 0], "inner": [0, 1]}],
    "out_of_bounds": [[-128, -57]],
    "exact": true})");
  EXPECT_EQ(j.dump(), expected.dump());
}

TEST(Outcome, JsonHasTheSameKeysWhereThereIsNothingToSay) {
  const nlohmann::ordered_json j = to_json(Outcome());
  EXPECT_EQ(keys_of(j), keys_of(to_json(full_outcome())));
  for (const char* key : {"variant", "index_type", "launch", "first_overflow"}) EXPECT_TRUE(j[key].is_null()) << key;
  for (const char* key : {"wrong", "never_written", "contended", "out_of_bounds"}) {
    EXPECT_TRUE(j[key].is_array() && j[key].empty()) << key;
  }
  EXPECT_EQ(j["verdict"], "not_executed");
}

TEST(Outcome, AReasonIsShownWhereThereIsOne) {
  Outcome o;
  EXPECT_FALSE(to_json(o).contains("reason"));
  o.reason = "no GPU";
  EXPECT_EQ(to_json(o)["reason"], "no GPU");
}

TEST(Outcome, AnOverflowWithoutAPlaceHasNone) {
  Outcome o = full_outcome();
  o.first_overflow->where.reset();
  EXPECT_TRUE(to_json(o)["first_overflow"]["where"].is_null());
}

TEST(Outcome, NumbersAbove64BitsAreText) {
  Outcome o = full_outcome();
  const auto exact_of = [&](Exact value) {
    o.first_overflow->overflow.exact = value;
    return to_json(o)["first_overflow"]["exact"];
  };
  EXPECT_EQ(exact_of(std::numeric_limits<int64_t>::max()), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(exact_of(std::numeric_limits<int64_t>::min()), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(exact_of(static_cast<Exact>(std::numeric_limits<int64_t>::max()) + 1), "9223372036854775808");
  EXPECT_EQ(exact_of(Exact{1} << 64), "18446744073709551616");
}

TEST(Outcome, DecimalTextOf128BitNumbers) {
  EXPECT_EQ(to_string(Exact{0}), "0");
  EXPECT_EQ(to_string(Exact{-1}), "-1");
  EXPECT_EQ(to_string(Exact{4294967296}), "4294967296");
  const Exact largest = ~(static_cast<Exact>(1) << 127);
  EXPECT_EQ(to_string(largest), "170141183460469231731687303715884105727");
  EXPECT_EQ(to_string(-largest - 1), "-170141183460469231731687303715884105728");
}

TEST(Outcome, VerdictOfTheSets) {
  Outcome o;
  EXPECT_EQ(verdict_of_sets(o), Verdict::kOk);
  const std::vector<Box> some = {{{0, 0}, {0, 0}, {0, 0}}};
  o.never_written = some;
  EXPECT_EQ(verdict_of_sets(o), Verdict::kUnwritten);
  o.contended = some;
  EXPECT_EQ(verdict_of_sets(o), Verdict::kMismatch);
  o.contended.clear();
  o.wrong = some;
  EXPECT_EQ(verdict_of_sets(o), Verdict::kMismatch);
}

TEST(Outcome, EveryVerdictHasItsOwnName) {
  std::set<std::string_view> names;
  for (const Verdict v : {Verdict::kOk, Verdict::kMismatch, Verdict::kUnwritten, Verdict::kOutOfBounds, Verdict::kFault,
                          Verdict::kHang, Verdict::kLaunchRejected, Verdict::kNotExecuted}) {
    EXPECT_TRUE(names.insert(name_of(v)).second) << name_of(v);
  }
  EXPECT_TRUE(names.contains("out_of_bounds"));
  EXPECT_TRUE(names.contains("launch_rejected"));
}

}  // namespace
}  // namespace brink
