#include "kernels/softmax/implementation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace brink {
namespace {

using testing::HasSubstr;

constexpr int64_t kIntMax = std::numeric_limits<int32_t>::max();
constexpr int64_t kResident = int64_t{1} << 22;

Implementation named_implementation(std::string_view name) { return parse_implementation(name).value(); }

std::string width(std::string_view implementation, const Decomposition& shape, DType dtype = DType::kF16,
                  Operation operation = Operation::kSoftmaxBackward, int64_t resident = kResident) {
  FixedOccupancy occupancy(resident);
  const auto result = dispatch(named_implementation(implementation), shape, operation, dtype, occupancy);
  if (const auto* none = std::get_if<NoDispatch>(&result)) return none->reason;
  return std::string(name_of(std::get<Dispatch>(result).index_type));
}

TEST(Implementation, NamesReadBackAndAreDifferent) {
  std::set<std::string> names;
  for (const Implementation& implementation : all_implementations()) {
    const std::string name = implementation.name();
    EXPECT_EQ(parse_implementation(name), implementation) << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  for (const char* name : {"dispatched", "numel_rule", "spatial/u32", "last_dim/i64", "dispatched/i8", "numel_rule/u16",
                           "spatial/u8", "numel_rule/u32"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Implementation, UnknownNamesAreNotImplementations) {
  for (const char* name : {"", "dispatched/", "dispatched/i32", "dispatched/i64", "spatial", "spatial/u64",
                           "Spatial/u32", "spatial/u32 ", "last_dim/u32/x"}) {
    EXPECT_EQ(parse_implementation(name), std::nullopt) << name;
  }
}

TEST(Implementation, ScaleModelsAreTheNarrowOnes) {
  for (const Implementation& implementation : all_implementations()) {
    EXPECT_EQ(implementation.scaled(), limits_of(implementation.index_type).bits <= 16) << implementation.name();
    EXPECT_EQ(implementation.kernel_limits().warp_size, implementation.scaled() ? 4 : 32);
  }
}

TEST(Implementation, FixedWidthKernelsTakeTheirOwnPathOnly) {
  FixedOccupancy occupancy(kResident);
  for (const char* name : {"spatial/u32", "last_dim/u32", "spatial/i64", "last_dim/i8"}) {
    const Implementation implementation = named_implementation(name);
    for (const Decomposition& shape : {Decomposition{2, 9, 1}, {2, 9, 3}}) {
      const auto result = dispatch(implementation, shape, Operation::kSoftmaxForward, DType::kF32, occupancy);
      if (implementation.path == path_of(shape)) {
        ASSERT_TRUE(std::holds_alternative<Dispatch>(result)) << name;
        EXPECT_EQ(std::get<Dispatch>(result).index_type, implementation.index_type);
        EXPECT_EQ(std::get<Dispatch>(result).sized.path, path_of(shape));
      } else {
        ASSERT_TRUE(std::holds_alternative<NoDispatch>(result)) << name;
        EXPECT_TRUE(std::get<NoDispatch>(result).wrong_path);
        EXPECT_THAT(std::get<NoDispatch>(result).reason, HasSubstr(name));
      }
    }
  }
}

struct Margin {
  const char* what;
  DType dtype;
  Decomposition last_safe;
  Decomposition first_unsafe;
};

TEST(Implementation, DispatchedTakesI32UpToTheLastSafeShape) {
  const std::vector<Margin> margins = {
      // Nothing but the number of elements: 2 * 1073741823 = 2^31 - 2.
      {"numel", DType::kF16, {1, 2, 1073741823}, {1, 2, 1073741824}},
      // Columns step by grid_y * block_y = 65535 * 1024: the last is 2^31 - 1 - 67107840.
      {"inner step", DType::kF16, {1, 1, kIntMax - 67107840 + 1}, {1, 1, kIntMax - 67107840 + 2}},
      // A row of 16-byte vectors: up to 7 elements of alignment shift, then a step of 512 threads past the last.
      {"row step f16", DType::kF16, {1, kIntMax - 512 - 7 + 1, 1}, {1, kIntMax - 512 - 7 + 2, 1}},
      {"row step f32", DType::kF32, {1, kIntMax - 512 - 3 + 1, 1}, {1, kIntMax - 512 - 3 + 2, 1}},
      {"row step f64", DType::kF64, {1, kIntMax - 512 - 1 + 1, 1}, {1, kIntMax - 512 - 1 + 2, 1}},
      // Rows of one element: as many threads as rows, rounded up to 128, so one step doubles the counter.
      {"row step of warps", DType::kF16, {int64_t{1} << 30, 1, 1}, {(int64_t{1} << 30) + 1, 1, 1}},
  };
  for (const Margin& margin : margins) {
    for (const Operation operation : kOperations) {
      EXPECT_EQ(width("dispatched", margin.last_safe, margin.dtype, operation), "i32") << margin.what;
      EXPECT_EQ(width("dispatched", margin.first_unsafe, margin.dtype, operation), "i64") << margin.what;
    }
  }
}

TEST(Implementation, SmallerGridsLeaveMoreShapesToI32) {
  // With 4 resident blocks columns step by 4 * 1024 only.
  const Decomposition last{1, 1, kIntMax - 4096 + 1};
  const Decomposition next{1, 1, kIntMax - 4096 + 2};
  EXPECT_EQ(width("dispatched", last, DType::kF16, Operation::kSoftmaxBackward, 4), "i32");
  EXPECT_EQ(width("dispatched", next, DType::kF16, Operation::kSoftmaxBackward, 4), "i64");
}

TEST(Implementation, NumelRuleLooksAtTheNumberOfElementsAlone) {
  // PyTorch's canUse32BitIndexMath: 32 bits where numel < INT_MAX.
  for (const Operation operation : kOperations) {
    EXPECT_EQ(width("numel_rule", {1, kIntMax - 1, 1}, DType::kF16, operation), "i32");
    EXPECT_EQ(width("numel_rule", {1, kIntMax, 1}, DType::kF16, operation), "i64");
    EXPECT_EQ(width("numel_rule", {1, 1, kIntMax - 1}, DType::kF16, operation), "i32");
    EXPECT_EQ(width("numel_rule", {1, 1, kIntMax}, DType::kF16, operation), "i64");
  }
  EXPECT_EQ(width("numel_rule/u8", {1, 2, 127}, DType::kF16), "u8");
  EXPECT_EQ(width("numel_rule/u8", {1, 1, 255}, DType::kF16), "i64");
}

TEST(Implementation, LargestIndexValueCountsEveryLoopStep) {
  const auto largest = [](const Decomposition& shape, Variant variant, const Launch& launch, DType dtype) {
    return largest_index_value(shape, {path_of(shape), variant, launch}, dtype);
  };
  EXPECT_EQ(largest({10, 2, 3}, Variant::kColumns, {1, 3, 100, 1, 0}, DType::kF16), 109);  // outer
  EXPECT_EQ(largest({1, 2, 30}, Variant::kColumns, {1, 16, 1, 7, 0}, DType::kF16), 141);   // inner
  EXPECT_EQ(largest({1, 20, 3}, Variant::kReduce, {512, 2, 1, 1, 0}, DType::kF16), 531);   // dim
  EXPECT_EQ(largest({1, 20, 1}, Variant::kBlock, {512, 1, 1, 1, 0}, DType::kF16), 538);    // shifted row
  EXPECT_EQ(largest({1, 20, 1}, Variant::kBlock, {512, 1, 1, 1, 0}, DType::kF64), 532);
  EXPECT_EQ(largest({900, 20, 1}, Variant::kBlock, {16, 1, 900, 1, 0}, DType::kF16), 18000);  // numel
  EXPECT_EQ(largest({100, 2, 1}, Variant::kWarp, {2, 64, 2, 1, 0}, DType::kF16), 227);        // rows
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(largest({kMax - 5, 1, 1}, Variant::kWarp, {1, 128, 0x7fffffff, 1, 0}, DType::kF16), kMax);
}

/// Forward and backward kernels need different numbers of registers, so different numbers of blocks are resident.
class DirectionalOccupancy : public OccupancyQuery {
 public:
  Occupancy resident_blocks(const KernelId& kernel, int64_t, int64_t) override {
    return {"", is_forward(kernel.operation) ? 2 : 60000};
  }
};

TEST(Implementation, ForwardAndBackwardDecideAlike) {
  DirectionalOccupancy occupancy;
  int narrow = 0;
  int wide = 0;
  int launches_differ = 0;
  const auto width_of = [&](const Decomposition& shape, Operation operation) {
    return std::get<Dispatch>(dispatch(named_implementation("dispatched"), shape, operation, DType::kF16, occupancy));
  };
  for (int64_t margin = 0; margin < 70'000'000; margin += 499'979) {
    for (const Decomposition& shape : {Decomposition{1, 1, kIntMax - margin}, {1, 2, (kIntMax - margin) / 2}}) {
      for (const Operation operation : {Operation::kSoftmaxForward, Operation::kLogSoftmaxForward}) {
        const Dispatch forward = width_of(shape, operation);
        const Dispatch backward = width_of(shape, counterpart(operation));
        ASSERT_EQ(forward.index_type, backward.index_type) << shape.dim_size << " x " << shape.inner_size;
        (forward.index_type == IndexType::kI32 ? narrow : wide)++;
        if (forward.sized.launch != backward.sized.launch) ++launches_differ;
      }
    }
  }
  // The shapes must be such that the question arises.
  EXPECT_GT(narrow, 0);
  EXPECT_GT(wide, 0);
  EXPECT_GT(launches_differ, 0);
}

TEST(Implementation, ARejectedLaunchIsNotAWrongPath) {
  FixedOccupancy none(0);
  for (const char* name : {"dispatched", "numel_rule", "spatial/u32", "spatial/i64"}) {
    const auto result = dispatch(named_implementation(name), {1, 2, 9}, Operation::kSoftmaxForward, DType::kF32, none);
    ASSERT_TRUE(std::holds_alternative<NoDispatch>(result)) << name;
    EXPECT_FALSE(std::get<NoDispatch>(result).wrong_path);
    EXPECT_THAT(std::get<NoDispatch>(result).reason, HasSubstr("no block size"));
  }
}

TEST(Operations, NamesReadBackAndCounterpartsGoBothWays) {
  for (const Operation operation : kOperations) {
    EXPECT_EQ(parse_operation(name_of(operation)), operation);
    EXPECT_EQ(counterpart(counterpart(operation)), operation);
    EXPECT_NE(is_forward(operation), is_forward(counterpart(operation)));
    EXPECT_EQ(is_log(operation), is_log(counterpart(operation)));
    EXPECT_EQ(input_count(operation), is_forward(operation) ? 1 : 2);
  }
  EXPECT_EQ(parse_operation("softmax"), std::nullopt);
}

}  // namespace
}  // namespace brink
