#include "fuzz/case_bytes.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "properties/generator.h"

namespace brink {
namespace {

TEST(CaseBytes, GeneratedCasesReadBack) {
  GeneratorOptions options;
  options.exact_prime = false;
  for (const Case& c : generate_cases(3, 10'000, options)) ASSERT_EQ(decode(encode(c)), c) << to_text(c);
}

TEST(CaseBytes, EveryFieldAndEveryRankReadsBack) {
  Draws draws(4);
  const std::vector<Implementation> implementations = all_implementations();
  for (int i = 0; i < 5000; ++i) {
    Case c;
    c.operation = kOperations[draws.below(4)];
    c.dtype = kDTypes[draws.below(4)];
    c.implementation = draws.pick(implementations);
    c.family = draws.pick(std::vector{FormFamily::kSeed, FormFamily::kCoded, FormFamily::kCodedOutput});
    c.prime = draws.pick(std::vector<int>{3, 5, 7});
    c.memory = draws.pick(std::vector{MemoryKind::kDense, MemoryKind::kAliased, MemoryKind::kSparse});
    c.seed = draws.next();
    for (int64_t rank = draws.below(300); rank > 0; --rank) c.shape.push_back(static_cast<int64_t>(draws.next() >> 1));
    const auto axes = std::max<int64_t>(1, static_cast<int64_t>(c.shape.size()));
    c.axis = draws.between(-axes, axes - 1);
    ASSERT_EQ(decode(encode(c)), c) << to_text(c);
  }
}

TEST(CaseBytes, AnyBytesDecodeToACaseThatReadsBack) {
  Draws draws(5);
  int valid = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<uint8_t> bytes(static_cast<size_t>(draws.below(60)));
    for (uint8_t& byte : bytes) byte = draws.chance(50) ? 0 : static_cast<uint8_t>(draws.next() >> 56);
    const Case c = decode(bytes);
    ASSERT_EQ(decode(encode(c)), c) << to_text(c);
    if (validate(c).empty()) ++valid;
  }
  EXPECT_GT(valid, 1000);
}

TEST(CaseBytes, TheEmptyInputIsAValidCase) {
  const Case c = decode({});
  EXPECT_EQ(validate(c), "");
  EXPECT_TRUE(c.shape.empty());
}

TEST(CaseBytes, EveryImplementationHasANumber) {
  for (const Implementation& implementation : all_implementations()) {
    Case c;
    c.implementation = implementation;
    EXPECT_NO_THROW(encode(c)) << "append " << implementation.name() << " to the numbering";
  }
}

TEST(CaseBytes, NumbersNeverChange) {
  std::string lists;
  for (const Numbering& list : numbering()) {
    lists += std::string(list.field) + ":";
    for (const std::string_view name : list.names) lists += " " + std::string(name);
    lists += "\n";
  }
  // Append here what is appended there; change nothing else, or every stored corpus means other cases.
  EXPECT_EQ(lists,
            "operation: softmax_forward softmax_backward log_softmax_forward log_softmax_backward\n"
            "dtype: f16 bf16 f32 f64\n"
            "implementation: dispatched numel_rule last_dim/u32 last_dim/i32 last_dim/i64 spatial/u32 spatial/i32 "
            "spatial/i64 dispatched/u32 numel_rule/u32 dispatched/u8 dispatched/i8 dispatched/u16 dispatched/i16 "
            "numel_rule/u8 numel_rule/i8 numel_rule/u16 numel_rule/i16 last_dim/u8 last_dim/i8 last_dim/u16 "
            "last_dim/i16 spatial/u8 spatial/i8 spatial/u16 spatial/i16 workspace last_dim/u32_pressure "
            "spatial/u32_pressure last_dim/i64_pressure spatial/i64_pressure "
            "last_dim/i64_ask_once spatial/i64_ask_once last_dim/i64_shrink_y_only spatial/i64_shrink_y_only "
            "last_dim/i64_stale_shared spatial/i64_stale_shared spatial/i64_torn_barrier no_launch\n"
            "closed form: seed coded coded_output\n"
            "prime: 3 5 7\n"
            "memory: dense aliased sparse\n");
}

TEST(CaseBytes, TheLayoutNeverChanges) {
  Case c;
  c.shape = {1, 2, 2147483649};
  c.axis = 1;
  c.implementation = *parse_implementation("spatial/u32");
  c.seed = 0x0102;
  const std::vector<uint8_t> expected = {1, 0, 5, 1, 2, 2, 4, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0,   0, 1, 0, 0,
                                         0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 128, 0, 0, 0, 0};
  EXPECT_EQ(encode(c), expected);
}

}  // namespace
}  // namespace brink
