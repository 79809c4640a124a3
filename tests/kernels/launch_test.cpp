#include "kernels/softmax/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace brink {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

/// A device made up for a test; remembers what it was asked.
class FakeDevice : public OccupancyQuery {
 public:
  explicit FakeDevice(std::function<Occupancy(int64_t threads)> answer) : answer_(std::move(answer)) {}
  Occupancy resident_blocks(const KernelId& kernel, int64_t threads, int64_t shared_bytes) override {
    asked.emplace_back(threads, shared_bytes);
    kernels.push_back(kernel);
    return answer_(threads);
  }

  std::vector<std::pair<int64_t, int64_t>> asked;  // threads, shared bytes
  std::vector<KernelId> kernels;

 private:
  std::function<Occupancy(int64_t)> answer_;
};

SizedLaunch sized(const Decomposition& shape, DType dtype, const KernelLimits& limits, int64_t resident) {
  FixedOccupancy occupancy(resident);
  const auto result = size_launch(shape, Operation::kSoftmaxBackward, dtype, IndexType::kI64, limits, occupancy);
  if (const auto* reason = std::get_if<std::string>(&result)) ADD_FAILURE() << *reason;
  return std::holds_alternative<SizedLaunch>(result) ? std::get<SizedLaunch>(result) : SizedLaunch{};
}

struct Expected {
  Decomposition shape;
  DType dtype;
  Variant variant;
  Launch launch;
};

void expect_launches(const std::vector<Expected>& table, const KernelLimits& limits, int64_t resident) {
  for (const Expected& e : table) {
    const SizedLaunch found = sized(e.shape, e.dtype, limits, resident);
    const auto text = testing::Message() << e.shape.outer_size << " x " << e.shape.dim_size << " x "
                                         << e.shape.inner_size << ' ' << name_of(e.dtype);
    EXPECT_EQ(found.path, e.shape.inner_size == 1 ? Path::kLastDim : Path::kSpatial) << text;
    EXPECT_EQ(found.variant, e.variant) << text;
    EXPECT_EQ(found.launch.block_x, e.launch.block_x) << text;
    EXPECT_EQ(found.launch.block_y, e.launch.block_y) << text;
    EXPECT_EQ(found.launch.grid_x, e.launch.grid_x) << text;
    EXPECT_EQ(found.launch.grid_y, e.launch.grid_y) << text;
    EXPECT_EQ(found.launch.shared_bytes, e.launch.shared_bytes) << text;
  }
}

constexpr int64_t kHuge = int64_t{1} << 40;

TEST(Launch, LastDimBlocksAreThoseOfAGpu) {
  expect_launches(
      {
          // Short rows: up to 32 lanes to a row, 128 threads to a block.
          {{1, 1, 1}, DType::kF16, Variant::kWarp, {1, 128, 1, 1, 0}},
          {{300, 5, 1}, DType::kF16, Variant::kWarp, {8, 16, 19, 1, 0}},
          {{300, 33, 1}, DType::kF16, Variant::kWarp, {32, 4, 75, 1, 0}},
          {{9, 1024, 1}, DType::kF64, Variant::kWarp, {32, 4, 3, 1, 0}},
          // Longer ones: a power of two of threads, one 16-byte vector each, up to 512; a block to a row.
          {{9, 1025, 1}, DType::kF16, Variant::kBlock, {256, 1, 9, 1, 256 * 4}},  // 129 vectors of 8
          {{9, 1025, 1}, DType::kF32, Variant::kBlock, {512, 1, 9, 1, 512 * 4}},  // 257 of 4
          {{9, 1025, 1}, DType::kF64, Variant::kBlock, {512, 1, 9, 1, 512 * 8}},
          {{1, kHuge, 1}, DType::kBF16, Variant::kBlock, {512, 1, 1, 1, 512 * 4}},
          // The grid ends at CUDA's limit.
          {{kHuge, 1, 1}, DType::kF16, Variant::kWarp, {1, 128, 0x7fffffff, 1, 0}},
          {{kHuge, 2000, 1}, DType::kF16, Variant::kBlock, {256, 1, 0x7fffffff, 1, 256 * 4}},
      },
      KernelLimits::real(), 1);
}

TEST(Launch, SpatialBlocksAreThoseOfAGpu) {
  expect_launches(
      {
          // Wide or short: a thread to a column.
          {{1, 2, 2147483649}, DType::kF16, Variant::kColumns, {1, 1024, 1, 65535, 0}},
          {{3, 2, 65}, DType::kF16, Variant::kColumns, {1, 65, 3, 1, 0}},
          {{3, 63, 64}, DType::kF16, Variant::kColumns, {1, 64, 3, 1, 0}},
          {{3, 1000, 65}, DType::kF16, Variant::kColumns, {1, 65, 3, 1, 0}},
          // Narrow and long: threads share a column.
          {{3, 64, 64}, DType::kF16, Variant::kReduce, {16, 64, 3, 1, 1024 * 4}},
          {{3, 64, 64}, DType::kF64, Variant::kReduce, {16, 64, 3, 1, 1024 * 8}},
          {{3, 64, 2}, DType::kF16, Variant::kReduce, {64, 2, 3, 1, 128 * 4}},
          {{3, 100000, 3}, DType::kF16, Variant::kReduce, {256, 3, 3, 1, 768 * 4}},
          // As many blocks as are resident: columns first, then outer slices.
          {{1000, 2, 2147483649}, DType::kF16, Variant::kColumns, {1, 1024, 65, 65535, 0}},
          {{100, 2, 1024 * 1000}, DType::kF16, Variant::kColumns, {1, 1024, 100, 1000, 0}},
      },
      KernelLimits::real(), int64_t{1} << 22);
}

TEST(Launch, ScaledBlocksKeepTheProportions) {
  expect_launches(
      {
          {{9, 3, 1}, DType::kF16, Variant::kWarp, {4, 4, 3, 1, 0}},
          {{9, 12, 1}, DType::kF16, Variant::kWarp, {4, 4, 3, 1, 0}},
          {{9, 13, 1}, DType::kF16, Variant::kBlock, {4, 1, 9, 1, 16}},
          {{9, 200, 1}, DType::kF16, Variant::kBlock, {16, 1, 9, 1, 64}},
          {{2, 5, 3}, DType::kF16, Variant::kReduce, {4, 3, 2, 1, 48}},
          {{2, 3, 3}, DType::kF16, Variant::kColumns, {1, 3, 2, 1, 0}},
          {{2, 9, 5}, DType::kF16, Variant::kColumns, {1, 5, 2, 1, 0}},
          {{9, 2, 100}, DType::kF16, Variant::kColumns, {1, 16, 1, 4, 0}},
          {{9, 2, 20}, DType::kF16, Variant::kColumns, {1, 16, 2, 2, 0}},
      },
      KernelLimits::scaled(), 4);
}

TEST(Launch, AnInnerSizeOfOneIsTheLastDimPath) {
  EXPECT_EQ(path_of({7, 9, 1}), Path::kLastDim);
  EXPECT_EQ(path_of({7, 9, 2}), Path::kSpatial);
  EXPECT_EQ(path_of({7, 1, 2}), Path::kSpatial);
}

TEST(Launch, TheDeviceIsAskedAboutTheKernelThatWillRun) {
  FakeDevice device([](int64_t) { return Occupancy{"", 5}; });
  const auto result = size_launch({3, 64, 64}, Operation::kLogSoftmaxForward, DType::kF32, IndexType::kU32,
                                  KernelLimits::real(), device);
  ASSERT_TRUE(std::holds_alternative<SizedLaunch>(result));
  ASSERT_THAT(device.asked, ElementsAre(Pair(1024, 4096)));
  EXPECT_EQ(device.kernels[0].operation, Operation::kLogSoftmaxForward);
  EXPECT_EQ(device.kernels[0].variant, Variant::kReduce);
  EXPECT_EQ(device.kernels[0].dtype, DType::kF32);
  EXPECT_EQ(device.kernels[0].index_type, IndexType::kU32);
}

// What pytorch#188031 also found: the query succeeds and answers 0 blocks, and the caller divides by it.
TEST(Launch, BlocksShrinkInYBeforeXWhereNoneIsResident) {
  FakeDevice device([](int64_t threads) { return Occupancy{"", threads <= 32 ? 7 : 0}; });
  const auto result =
      size_launch({1, 70, 3}, Operation::kSoftmaxBackward, DType::kF16, IndexType::kI64, KernelLimits::real(), device);
  const Launch launch = std::get<SizedLaunch>(result).launch;
  EXPECT_THAT(device.asked, ElementsAre(Pair(64 * 3, 64 * 3 * 4), Pair(64 * 1, 64 * 4), Pair(32 * 1, 32 * 4)));
  EXPECT_EQ(launch.block_x, 32);
  EXPECT_EQ(launch.block_y, 1);
  EXPECT_EQ(launch.shared_bytes, 32 * 4);
  EXPECT_EQ(launch.grid_y, 3);
}

TEST(Launch, BlocksShrinkWhereTheQueryFails) {
  FakeDevice device([](int64_t threads) {
    return threads <= 100 ? Occupancy{"", 2} : Occupancy{"too many resources requested", 0};
  });
  const auto result = size_launch({9, 2, 5000}, Operation::kSoftmaxBackward, DType::kF16, IndexType::kI64,
                                  KernelLimits::real(), device);
  const Launch launch = std::get<SizedLaunch>(result).launch;
  EXPECT_EQ(launch.block_x, 1);
  EXPECT_EQ(launch.block_y, 64);
  EXPECT_EQ(launch.grid_y, 2);
  EXPECT_EQ(launch.grid_x, 1);
}

TEST(Launch, AnErrorCountsMoreThanTheNumberBesideIt) {
  FakeDevice device([](int64_t threads) { return Occupancy{threads > 1 ? "out of registers" : "", 9}; });
  const auto result =
      size_launch({9, 2, 8}, Operation::kSoftmaxBackward, DType::kF16, IndexType::kI64, KernelLimits::real(), device);
  EXPECT_EQ(std::get<SizedLaunch>(result).launch.threads(), 1);
}

TEST(Launch, AWarpKeepsItsLanes) {
  FakeDevice device([](int64_t threads) { return Occupancy{"", threads <= 32 ? 1 : 0}; });
  const auto result = size_launch({300, 100, 1}, Operation::kSoftmaxForward, DType::kF16, IndexType::kI64,
                                  KernelLimits::real(), device);
  const Launch launch = std::get<SizedLaunch>(result).launch;
  EXPECT_EQ(launch.block_x, 32);
  EXPECT_EQ(launch.block_y, 1);
  EXPECT_EQ(launch.grid_x, 300);
  FakeDevice smaller([](int64_t threads) { return Occupancy{"", threads <= 16 ? 1 : 0}; });
  EXPECT_TRUE(std::holds_alternative<std::string>(size_launch({300, 100, 1}, Operation::kSoftmaxForward, DType::kF16,
                                                              IndexType::kI64, KernelLimits::real(), smaller)));
}

TEST(Launch, WhereNothingFitsTheLaunchIsRejectedWithTheReason) {
  for (const Decomposition& shape : {Decomposition{2, 9, 1}, {2, 2000, 1}, {2, 9, 9}, {2, 90, 9}}) {
    FakeDevice zero([](int64_t) { return Occupancy{"", 0}; });
    auto result =
        size_launch(shape, Operation::kSoftmaxBackward, DType::kF16, IndexType::kU32, KernelLimits::real(), zero);
    ASSERT_TRUE(std::holds_alternative<std::string>(result));
    EXPECT_THAT(std::get<std::string>(result), HasSubstr("no block size of " + std::string(name_of(path_of(shape)))));
    EXPECT_LE(zero.asked.size(), 25u);
    FakeDevice failing([](int64_t) { return Occupancy{"no kernel image", 0}; });
    result =
        size_launch(shape, Operation::kSoftmaxBackward, DType::kF16, IndexType::kU32, KernelLimits::real(), failing);
    ASSERT_TRUE(std::holds_alternative<std::string>(result));
    EXPECT_THAT(std::get<std::string>(result), HasSubstr("no kernel image"));
    EXPECT_THAT(std::get<std::string>(result), Not(HasSubstr("\n")));
  }
}

TEST(Launch, EveryAcceptedLaunchIsOneThatTheDeviceTakes) {
  std::mt19937_64 random(3);
  const auto size = [&] { return static_cast<int64_t>(1 + (random() >> (44 + random() % 20))); };
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    const Decomposition shape{size(), size(), random() % 3 == 0 ? 1 : size()};
    const int64_t most_threads = int64_t{1} << (random() % 12);
    const int64_t blocks = random() % 8 == 0 ? std::numeric_limits<int64_t>::max() : size();
    const bool error = random() % 2 == 0;
    FakeDevice device([&](int64_t threads) {
      if (threads <= most_threads) return Occupancy{"", blocks};
      return error ? Occupancy{"no", blocks} : Occupancy{"", 0};
    });
    const KernelLimits limits = random() % 2 == 0 ? KernelLimits::real() : KernelLimits::scaled();
    const DType dtype = kDTypes[random() % 4];
    const auto result = size_launch(shape, Operation::kSoftmaxBackward, dtype, IndexType::kI32, limits, device);
    const auto* found = std::get_if<SizedLaunch>(&result);
    if (found == nullptr) continue;
    ++accepted;
    const Launch& launch = found->launch;
    ASSERT_LE(launch.threads(), most_threads);
    ASSERT_EQ(device.asked.back(), std::make_pair(launch.threads(), launch.shared_bytes));
    ASSERT_GE(launch.block_x, 1);
    ASSERT_GE(launch.block_y, 1);
    ASSERT_EQ(launch.block_x & (launch.block_x - 1), 0) << "a reduction halves block.x";
    ASSERT_GE(launch.grid_x, 1);
    ASSERT_GE(launch.grid_y, 1);
    ASSERT_LE(launch.grid_x, limits.grid_x_max);
    ASSERT_LE(launch.grid_y, limits.grid_y_max);
    ASSERT_EQ(found->path, path_of(shape));
    if (found->path == Path::kLastDim) {
      ASSERT_EQ(launch.grid_y, 1);
    }
    if (found->variant == Variant::kColumns) {
      ASSERT_EQ(launch.block_x, 1);
    }
  }
  EXPECT_GT(accepted, 10000);
}

}  // namespace
}  // namespace brink
