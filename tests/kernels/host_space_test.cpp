#include "kernels/execution/host_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

namespace brink {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = int64_t{1} << 30;

Mapping mapped(std::variant<Mapping, std::string> result) {
  if (const auto* error = std::get_if<std::string>(&result)) {
    ADD_FAILURE() << *error;
    return {};
  }
  return std::move(std::get<Mapping>(result));
}

char* bytes_of(const Mapping& mapping) { return static_cast<char*>(mapping.data()); }

TEST(HostSpace, EightSparseGibibytesCostNothingUntilTheyAreTouched) {
  const int64_t before = resident_bytes();
  ASSERT_GT(before, 0);
  const Mapping mapping = mapped(Mapping::sparse(8 * kGiB));
  EXPECT_LT(resident_bytes() - before, kMiB);
  // 2,000 pages, spread out: 8 MiB of 4 KiB pages and not 4 GiB of huge ones.
  for (int64_t i = 0; i < 2000; ++i) bytes_of(mapping)[i * 4 * kMiB] = 1;
  const int64_t grown = resident_bytes() - before;
  EXPECT_GT(grown, 2000 * sysconf(_SC_PAGESIZE) / 2);
  EXPECT_LT(grown, 2000 * sysconf(_SC_PAGESIZE) * 2 + kMiB);
}

TEST(HostSpace, SparseMemoryIsZeroAndItsLastByteCanBeWritten) {
  const Mapping mapping = mapped(Mapping::sparse(8 * kGiB + 3));
  for (const int64_t at : {int64_t{0}, 4 * kGiB, 8 * kGiB + 2}) {
    EXPECT_EQ(bytes_of(mapping)[at], 0);
    bytes_of(mapping)[at] = 5;
    EXPECT_EQ(bytes_of(mapping)[at], 5);
  }
}

TEST(HostSpace, MemoryIsGivenBackWhenTheMappingEnds) {
  const int64_t before = resident_bytes();
  for (int round = 0; round < 3; ++round) {
    const Mapping mapping = mapped(Mapping::sparse(64 * kMiB));
    std::memset(mapping.data(), 1, 64 * kMiB);
    EXPECT_GT(resident_bytes() - before, 60 * kMiB);
  }
  EXPECT_LT(resident_bytes() - before, 16 * kMiB);
}

TEST(HostSpace, GuardedMemoryIsUsableWhole) {
  const Mapping mapping = mapped(Mapping::guarded(3 * kMiB, 8 * kGiB, 8 * kGiB));
  bytes_of(mapping)[0] = 1;
  bytes_of(mapping)[3 * kMiB - 1] = 2;
  EXPECT_EQ(bytes_of(mapping)[0], 1);
  EXPECT_EQ(bytes_of(mapping)[3 * kMiB - 1], 2);
}

void read(const Mapping& mapping, int64_t at) {
  const volatile char value = bytes_of(mapping)[at];
  (void)value;
}

TEST(HostSpaceDeathTest, GuardedMemoryFaultsBeforeAndBehind) {
  const int64_t reach = 4 * kGiB;
  const Mapping mapping = mapped(Mapping::guarded(3 * kMiB, reach, reach));
  for (const int64_t at : {int64_t{-1}, -kGiB, -reach, 3 * kMiB, 3 * kMiB + kGiB, 3 * kMiB + reach - 1}) {
    EXPECT_DEATH(read(mapping, at), "") << at;
    EXPECT_DEATH(bytes_of(mapping)[at] = 1, "") << at;
  }
  read(mapping, 0);
}

TEST(HostSpace, AliasedMemoryRepeatsWithItsPeriodAndOwnSlotsDoNot) {
  const int64_t period = 3 * 4096 * 5;
  const std::vector<int64_t> own = {2, 6};
  const Mapping mapping = mapped(Mapping::aliased(7 * period - 100, period, own));  // 7 slots, the last one shorter
  char* data = bytes_of(mapping);
  for (const int64_t at : {int64_t{0}, int64_t{4095}, int64_t{4096}, period - 1}) {
    data[at] = 11;
    for (int64_t slot = 0; slot < 7; ++slot) {
      const bool private_slot = slot == 2 || slot == 6;
      EXPECT_EQ(data[slot * period + at], private_slot ? 0 : 11) << slot << ' ' << at;
    }
    data[5 * period + at] = 22;
    EXPECT_EQ(data[at], 22);
    data[2 * period + at] = 33;
    data[6 * period + at] = 44;
    EXPECT_EQ(data[at], 22);
    EXPECT_EQ(data[2 * period + at], 33);
    EXPECT_EQ(data[6 * period + at], 44);
  }
}

TEST(HostSpace, AliasedMemoryTakesOnePeriodAndItsOwnSlots) {
  const int64_t period = kMiB;
  const int64_t before = resident_bytes();
  const Mapping mapping = mapped(Mapping::aliased(kGiB, period, {0, 100, 1023}));
  EXPECT_EQ(mapping.physical_bytes(), 4 * period);
  for (int64_t at = 0; at < kGiB; at += 4096) bytes_of(mapping)[at] = 1;
  // A shared page counts as resident wherever it is mapped, so what the file and the private slots take is asked for.
  EXPECT_GT(resident_bytes() - before, 4 * period);
  bytes_of(mapping)[5 * period + 7] = 9;
  EXPECT_EQ(bytes_of(mapping)[900 * period + 7], 9);
}

TEST(HostSpace, TooMuchAddressSpaceIsAnErrorInOneLine) {
  std::variant<Mapping, std::string> results[] = {Mapping::sparse(int64_t{1} << 60),
                                                  Mapping::guarded(4096, int64_t{1} << 60, 4096),
                                                  Mapping::aliased(int64_t{1} << 60, kMiB, {})};
  for (const auto& result : results) {
    ASSERT_TRUE(std::holds_alternative<std::string>(result));
    EXPECT_THAT(std::get<std::string>(result), testing::HasSubstr("no address space"));
    EXPECT_THAT(std::get<std::string>(result), testing::Not(testing::HasSubstr("\n")));
  }
}

TEST(HostSpace, AMovedMappingStaysWhereItIs) {
  Mapping first = mapped(Mapping::sparse(8192));
  char* data = bytes_of(first);
  data[100] = 7;
  Mapping second = std::move(first);
  EXPECT_EQ(bytes_of(second), data);
  Mapping third = mapped(Mapping::sparse(4096));
  third = std::move(second);
  EXPECT_EQ(bytes_of(third)[100], 7);
}

}  // namespace
}  // namespace brink
