#include "properties/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "properties/generator.h"

namespace brink {
namespace {

using testing::HasSubstr;
using testing::Not;

Case seed_case() {
  Case c;
  c.shape = {1, 2, 2147483649};
  c.axis = 1;
  c.implementation = *parse_implementation("spatial/u32");
  return c;
}

nlohmann::ordered_json seed_json() { return nlohmann::ordered_json::parse(to_text(seed_case())); }

std::string error_of(const std::string& text) {
  const auto result = parse_case(text);
  if (std::holds_alternative<Case>(result)) return "no error";
  const std::string error = std::get<std::string>(result);
  EXPECT_THAT(error, Not(HasSubstr("\n"))) << text;
  EXPECT_FALSE(error.empty());
  return error;
}

std::string error_with(const char* field, const nlohmann::ordered_json& value) {
  nlohmann::ordered_json j = seed_json();
  j[field] = value;
  return error_of(j.dump());
}

TEST(Case, TextReadsBackForRandomCases) {
  Draws draws(21);
  const std::vector<Implementation> implementations = all_implementations();
  for (int i = 0; i < 5000; ++i) {
    Case c;
    c.operation = kOperations[draws.below(4)];
    int64_t left = int64_t{1} << draws.below(59);
    for (int64_t rank = draws.below(7); rank > 0; --rank) {
      const int64_t size = draws.chance(5) ? 0 : draws.between(1, left);
      c.shape.push_back(size);
      left = std::max<int64_t>(1, left / std::max<int64_t>(1, size));
    }
    const auto axes = std::max<int64_t>(1, static_cast<int64_t>(c.shape.size()));
    c.axis = draws.between(-axes, axes - 1);
    c.dtype = kDTypes[draws.below(4)];
    c.implementation = draws.pick(implementations);
    c.family = c.operation == Operation::kLogSoftmaxBackward && draws.chance(50) ? FormFamily::kCodedOutput
               : draws.chance(50)                                                ? FormFamily::kSeed
                                                                                 : FormFamily::kCoded;
    c.prime = draws.pick(std::vector<int>{3, 5, 7});
    c.memory = draws.pick(std::vector<MemoryKind>{MemoryKind::kDense, MemoryKind::kAliased, MemoryKind::kSparse});
    c.seed = draws.next();
    ASSERT_EQ(validate(c), "");
    const std::string text = to_text(c);
    const auto read = parse_case(text);
    ASSERT_TRUE(std::holds_alternative<Case>(read)) << text << std::get<std::string>(read);
    ASSERT_EQ(std::get<Case>(read), c) << text;
    ASSERT_EQ(to_text(std::get<Case>(read)), text);
  }
}

TEST(Case, TextIsOneLineOfJsonWithItsVersion) {
  EXPECT_EQ(to_text(seed_case()),
            R"({"brink_case":1,"operation":"softmax_backward","shape":[1,2,2147483649],"axis":1,"dtype":"f16",)"
            R"("implementation":"spatial/u32","closed_form":"coded","prime":7,"memory":"sparse","seed":0})"
            "\n");
}

TEST(Case, FieldsWithADefaultMayBeLeftOut) {
  nlohmann::ordered_json j = seed_json();
  for (const char* field : {"closed_form", "prime", "memory", "seed"}) j.erase(field);
  EXPECT_EQ(std::get<Case>(parse_case(j.dump())), seed_case());
}

TEST(Case, EveryOtherFieldIsRequired) {
  for (const char* field : {"brink_case", "operation", "shape", "axis", "dtype", "implementation"}) {
    nlohmann::ordered_json j = seed_json();
    j.erase(field);
    EXPECT_THAT(error_of(j.dump()), HasSubstr('"' + std::string(field) + '"'));
  }
}

TEST(Case, WhatIsNotJsonIsRejected) {
  for (const std::string text :
       {"", " ", "{", "nonsense", "{\"brink_case\":1,\n\"shape\":[1,\n}", "\x01\xff\xfe", "{\"a\":\"\xff\"}"}) {
    EXPECT_THAT(error_of(text), HasSubstr("not JSON")) << text;
  }
  EXPECT_THAT(error_of(to_text(seed_case()) + "{}"), HasSubstr("not JSON"));
}

TEST(Case, WhatIsNotAnObjectIsRejected) {
  for (const char* text : {"[]", "1", "null", "\"case\"", "true"})
    EXPECT_THAT(error_of(text), HasSubstr("JSON object"));
}

TEST(Case, UnknownFieldsAreRejectedByName) {
  EXPECT_THAT(error_with("shpae", 1), HasSubstr("\"shpae\""));
  EXPECT_THAT(error_with("", 1), HasSubstr("\"\""));
  EXPECT_THAT(error_with("two\nlines", 1), HasSubstr("two"));
}

TEST(Case, OtherVersionsAreRejected) {
  EXPECT_THAT(error_with("brink_case", 2), HasSubstr("version 2"));
  EXPECT_THAT(error_with("brink_case", 0), HasSubstr("version 0"));
  EXPECT_THAT(error_with("brink_case", "1"), HasSubstr("\"brink_case\""));
}

TEST(Case, ValuesOfTheWrongTypeAreRejectedByField) {
  const nlohmann::ordered_json values[] = {nullptr, true, 1.5, nlohmann::ordered_json::object(), {{"a", 1}}};
  for (const char* field : {"operation", "dtype", "implementation", "closed_form", "memory", "axis", "prime", "seed",
                            "shape", "brink_case"}) {
    for (const auto& value : values) EXPECT_THAT(error_with(field, value), HasSubstr(field)) << value.dump();
  }
  for (const char* field : {"operation", "dtype", "implementation", "closed_form", "memory"}) {
    EXPECT_THAT(error_with(field, 1), HasSubstr(field));
  }
  for (const char* field : {"axis", "prime", "seed", "shape"}) EXPECT_THAT(error_with(field, "1"), HasSubstr(field));
}

TEST(Case, UnknownNamesAreRejectedByFieldAndValue) {
  for (const char* field : {"operation", "dtype", "implementation", "closed_form", "memory"}) {
    const std::string error = error_with(field, "spatial/u33");
    EXPECT_THAT(error, HasSubstr(field));
    EXPECT_THAT(error, HasSubstr("spatial/u33"));
  }
}

TEST(Case, SizesThatAreNoInt64AreRejected) {
  const std::string text = to_text(seed_case());
  const auto with_shape = [&](const std::string& shape) {
    std::string changed = text;
    return changed.replace(changed.find("[1,2,2147483649]"), 16, shape);
  };
  for (const char* shape : {"[9223372036854775808]", "[18446744073709551616]", "[1e3]", "[1.0]",
                            "[-9223372036854775809]", "[\"1\"]", "[null]", "[[1]]", "[1,2,[3]]"}) {
    EXPECT_THAT(error_of(with_shape(shape)), HasSubstr("\"shape\"")) << shape;
  }
  EXPECT_TRUE(std::holds_alternative<Case>(parse_case(with_shape("[1,4611686018427387903]"))));
  // Two bytes an element are more than int64 counts.
  EXPECT_THAT(error_of(with_shape("[1,9223372036854775807]")), HasSubstr("bytes overflows"));
}

TEST(Case, ShapesAndAxesThatMakeNoTensorAreRejected) {
  EXPECT_THAT(error_with("axis", 3), HasSubstr("axis 3 is out of range"));
  EXPECT_THAT(error_with("axis", -4), HasSubstr("axis -4 is out of range"));
  EXPECT_THAT(error_with("axis", 9223372036854775808ULL), HasSubstr("\"axis\""));
  EXPECT_THAT(error_with("shape", {1, -2, 3}), HasSubstr("negative size -2"));
  EXPECT_THAT(error_with("shape", {4294967296, 4294967296, 1}), HasSubstr("overflows"));
}

TEST(Case, ClosedFormsMustSuitTheOperation) {
  EXPECT_THAT(error_with("closed_form", "coded_output"), HasSubstr("coded_output"));
  nlohmann::ordered_json j = seed_json();
  j["closed_form"] = "coded_output";
  j["operation"] = "log_softmax_backward";
  EXPECT_TRUE(std::holds_alternative<Case>(parse_case(j.dump())));
  for (const int prime : {0, 1, 2, 4, 9, 11, -7}) EXPECT_THAT(error_with("prime", prime), HasSubstr("prime"));
}

TEST(Case, SeedsAreUnsigned64BitNumbers) {
  EXPECT_THAT(error_with("seed", -1), HasSubstr("\"seed\""));
  nlohmann::ordered_json j = seed_json();
  j["seed"] = 18446744073709551615ULL;
  EXPECT_EQ(std::get<Case>(parse_case(j.dump())).seed, 18446744073709551615ULL);
}

TEST(Case, ErrorsStayShortWhateverTheFileHolds) {
  EXPECT_LT(error_with("axis", std::vector<int>(100000, 1)).size(), 400u);
  EXPECT_LT(error_with("operation", std::string(100000, 'x')).size(), 400u);
  // Deep nesting must not end the process.
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  EXPECT_LT(error_of(R"({"brink_case":1,"axis":)" + deep + "}").size(), 400u);
  EXPECT_LT(error_of(R"({"brink_case":)" + deep + "}").size(), 400u);
}

TEST(Case, TheRepeatCommandNamesEveryField) {
  Case c = seed_case();
  EXPECT_EQ(
      repeat_command(c, "host"),
      "brink run --op softmax_backward --shape 1,2,2147483649 --axis 1 --dtype f16 --impl spatial/u32 --form coded "
      "--prime 7 --memory sparse --seed 0 --device host");
  c.shape = {};
  c.axis = -1;
  EXPECT_THAT(repeat_command(c, "cuda"), HasSubstr("--shape scalar --axis -1 "));
}

TEST(MemoryKinds, NamesReadBack) {
  for (const MemoryKind kind : {MemoryKind::kDense, MemoryKind::kAliased, MemoryKind::kSparse}) {
    EXPECT_EQ(parse_memory_kind(name_of(kind)), kind);
  }
  EXPECT_EQ(parse_memory_kind("virtual"), std::nullopt);
}

TEST(Case, AFieldThatAppearsTwiceIsRefused) {
  const std::string text = to_text(Case{});
  const auto parsed = parse_case(text.substr(0, text.find('}')) + R"(,"axis":1})");
  ASSERT_TRUE(std::holds_alternative<std::string>(parsed));
  EXPECT_EQ(std::get<std::string>(parsed), "field \"axis\" appears twice");
}

}  // namespace
}  // namespace brink
