#include "kernels/softmax/device_model.h"

#include <gtest/gtest.h>

#include <set>

#if defined(BRINK_HAS_CUDA)
#include <cuda_occupancy.h>
#endif

namespace brink {
namespace {

constexpr KernelId kAny{Operation::kSoftmaxBackward, Variant::kColumns, DType::kF16, IndexType::kI64};

DeviceModel model_of(std::string_view name, std::optional<int64_t> registers) {
  return DeviceModel(*find_device_spec(name), registers);
}

int64_t blocks_per_sm(std::string_view name, int64_t registers, int64_t threads, int64_t shared_bytes = 0) {
  DeviceModel model = model_of(name, registers);
  const Occupancy answer = model.resident_blocks(kAny, threads, shared_bytes);
  EXPECT_EQ(answer.error, "");
  return answer.resident_blocks / model.spec().multiprocessors;
}

TEST(DeviceModel, OneThousandThreadsFitUpTo64Registers) {
  for (const DeviceSpec& spec : device_specs()) {
    if (spec.warp_size != 32) continue;
    EXPECT_EQ(blocks_per_sm(spec.name, 64, 1024), 1) << spec.name;
    EXPECT_EQ(blocks_per_sm(spec.name, 65, 1024), 0) << spec.name;
    EXPECT_EQ(blocks_per_sm(spec.name, 128, 512), 1) << spec.name;
    EXPECT_EQ(blocks_per_sm(spec.name, 129, 512), 0) << spec.name;
    EXPECT_EQ(blocks_per_sm(spec.name, 255, 256), 1) << spec.name;
  }
}

TEST(DeviceModel, TheGfx950AnswersSuccessAndNoBlocksWhereItsAttributesPromiseMore) {
  DeviceModel model = model_of("gfx950", 200);
  EXPECT_EQ(model.attributes(kAny).max_threads, 1024);
  const Occupancy answer = model.resident_blocks(kAny, 1024, 0);
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.resident_blocks, 0);
}

TEST(DeviceModel, ThreadsBlocksAndSharedMemoryLimitAMultiprocessor) {
  EXPECT_EQ(blocks_per_sm("sm_75", 32, 1024), 1);
  EXPECT_EQ(blocks_per_sm("sm_75", 32, 32), 16);
  EXPECT_EQ(blocks_per_sm("sm_86", 32, 1024), 1);
  EXPECT_EQ(blocks_per_sm("sm_86", 32, 512), 3);
  EXPECT_EQ(blocks_per_sm("sm_90", 32, 1024), 2);
  EXPECT_EQ(blocks_per_sm("sm_90", 16, 32), 32);
  // 228 KiB, 48 KiB and the 1 KiB of the system to a block.
  EXPECT_EQ(blocks_per_sm("sm_90", 32, 32, 48 * 1024), 4);
  EXPECT_EQ(blocks_per_sm("sm_90", 32, 32, 48 * 1024 + 1), 0);
}

TEST(DeviceModel, KernelsShortOfRegistersAreThe64BitOnesFirst) {
  for (const DType dtype : kDTypes) {
    for (const Variant variant : {Variant::kBlock, Variant::kColumns, Variant::kReduce}) {
      const auto registers = [&](IndexType type, Build build) {
        return model_registers({Operation::kSoftmaxForward, variant, dtype, type, build});
      };
      EXPECT_LE(registers(IndexType::kI64, Build::kPlain), 64);
      EXPECT_GT(registers(IndexType::kU32, Build::kPressure), 64);
      EXPECT_LE(registers(IndexType::kU32, Build::kPressure), 128);
      EXPECT_GT(registers(IndexType::kI64, Build::kPressure), 128);
      EXPECT_LE(registers(IndexType::kI64, Build::kPressure), 255);
    }
  }
}

TEST(HostileDevice, AnswersFollowFromTheSeed) {
  for (const Hostility hostility : kHostilities) {
    HostileDevice one(hostility, model_of("sm_90", std::nullopt), 5);
    HostileDevice other(hostility, model_of("sm_90", std::nullopt), 5);
    std::set<int64_t> blocks;
    std::set<std::string> errors;
    for (int i = 0; i < 200; ++i) {
      const Occupancy answer = one.resident_blocks(kAny, 256, 0);
      const Occupancy again = other.resident_blocks(kAny, 256, 0);
      ASSERT_EQ(answer.error, again.error);
      ASSERT_EQ(answer.resident_blocks, again.resident_blocks);
      ASSERT_EQ(one.limits().grid_x, other.limits().grid_x);
      errors.insert(answer.error);
      blocks.insert(answer.resident_blocks);
    }
    EXPECT_EQ(errors.size() > 1, hostility == Hostility::kErrors || hostility == Hostility::kFickle);
    EXPECT_EQ(blocks.size() > 5, hostility == Hostility::kFickle);
  }
}

#if defined(BRINK_HAS_CUDA)
TEST(DeviceModel, AgreesWithTheCudaOccupancyCalculator) {
  struct Row {
    const char* name;
    int major;
    int minor;
  };
  for (const Row row : {Row{"sm_75", 7, 5}, {"sm_80", 8, 0}, {"sm_86", 8, 6}, {"sm_90", 9, 0}, {"sm_100", 10, 0}}) {
    const DeviceSpec spec = *find_device_spec(row.name);
    cudaOccDeviceProp properties;
    properties.computeMajor = row.major;
    properties.computeMinor = row.minor;
    properties.maxThreadsPerBlock = static_cast<int>(spec.limits.threads);
    properties.maxThreadsPerMultiprocessor = static_cast<int>(spec.threads_per_sm);
    properties.regsPerBlock = static_cast<int>(spec.registers_per_sm);
    properties.regsPerMultiprocessor = static_cast<int>(spec.registers_per_sm);
    properties.warpSize = 32;
    properties.sharedMemPerBlock = static_cast<size_t>(spec.limits.shared_bytes);
    properties.sharedMemPerMultiprocessor = static_cast<size_t>(spec.shared_per_sm);
    properties.numSms = static_cast<int>(spec.multiprocessors);
    properties.sharedMemPerBlockOptin = static_cast<size_t>(spec.shared_per_sm - spec.shared_reserved);
    properties.reservedSharedMemPerBlock = static_cast<size_t>(spec.shared_reserved);
    for (int registers = 16; registers <= 255; ++registers) {
      for (int threads = 32; threads <= 1024; threads += 31) {
        for (const size_t shared : {size_t{0}, size_t{1000}, size_t{8192}, size_t{49152}}) {
          cudaOccFuncAttributes attributes;
          attributes.maxThreadsPerBlock = 1024;
          attributes.numRegs = registers;
          cudaOccDeviceState state;
          state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
          cudaOccResult result;
          ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, threads, shared),
                    CUDA_OCC_SUCCESS);
          ASSERT_EQ(blocks_per_sm(row.name, registers, threads, static_cast<int64_t>(shared)),
                    result.activeBlocksPerMultiprocessor)
              << row.name << " registers " << registers << " threads " << threads << " shared " << shared;
        }
      }
    }
  }
}
#endif

}  // namespace
}  // namespace brink
