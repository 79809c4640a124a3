#include "properties/worker.h"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

#include "properties/windows.h"

namespace brink {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Case small_case() {
  Case c;
  c.shape = {2, 3, 50};
  c.axis = 1;
  c.implementation = *parse_implementation("dispatched");
  return c;
}

// A second of work or more: 50 million element visits.
Case slow_case() {
  Case c = small_case();
  c.shape = {1, 2, 8000000};
  c.memory = MemoryKind::kDense;
  return c;
}

/// Processes that this one started, from /proc: the fourth field of stat is the parent.
std::vector<pid_t> children() {
  std::vector<pid_t> result;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return result;
  while (const dirent* entry = readdir(proc)) {
    const auto pid = static_cast<pid_t>(std::atoi(entry->d_name));
    if (pid <= 0) continue;
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string stat;
    std::getline(file, stat);
    const size_t end = stat.rfind(')');
    if (end == std::string::npos) continue;
    std::istringstream rest(stat.substr(end + 1));
    std::string state;
    pid_t parent = 0;
    rest >> state >> parent;
    if (parent == getpid() && state != "Z") result.push_back(pid);
  }
  closedir(proc);
  return result;
}

TEST(Worker, RunsCasesAsThisProcessWould) {
  Worker worker(Device::kHost);
  Case c = small_case();
  for (const char* implementation : {"dispatched", "spatial/u8", "spatial/i8"}) {
    c.implementation = *parse_implementation(implementation);
    const Execution here = execute_on_host(c, {});
    const Execution there = worker.execute(c, {}, {30});
    EXPECT_EQ(there.raw.ending, Ending::kCompleted);
    EXPECT_EQ(there.raw.wrong, here.raw.wrong) << implementation;
    EXPECT_EQ(there.raw.unwritten, here.raw.unwritten);
    EXPECT_EQ(there.raw.written_twice, here.raw.written_twice);
    EXPECT_EQ(there.raw.out_of_bounds, here.raw.out_of_bounds);
    EXPECT_EQ(there.raw.looked_at, here.raw.looked_at);
    EXPECT_EQ(there.raw.values.size(), here.raw.values.size());
    ASSERT_TRUE(there.launched.has_value());
    EXPECT_EQ(there.launched->index_type, here.launched->index_type);
    EXPECT_EQ(there.launched->sized.launch, here.launched->sized.launch);
  }
}

TEST(Worker, OneProcessRunsManyCasesAndEndsWithItsOwner) {
  ASSERT_THAT(children(), IsEmpty());
  {
    Worker worker(Device::kHost);
    EXPECT_THAT(children(), IsEmpty());  // started when first needed
    worker.execute(small_case(), {}, {30});
    const auto first = children();
    ASSERT_THAT(first, SizeIs(1));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(worker.execute(small_case(), {}, {30}).raw.ending, Ending::kCompleted);
    EXPECT_EQ(children(), first);
  }
  EXPECT_THAT(children(), IsEmpty());
}

TEST(Worker, AKilledWorkerIsStartedAgain) {
  Worker worker(Device::kHost);
  ASSERT_EQ(worker.execute(small_case(), {}, {30}).raw.ending, Ending::kCompleted);
  const auto first = children();
  ASSERT_THAT(first, SizeIs(1));
  kill(first[0], SIGKILL);
  EXPECT_EQ(worker.execute(small_case(), {}, {30}).raw.ending, Ending::kCompleted);
  const auto second = children();
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_NE(second, first);
}

TEST(Worker, ACaseWhoseWorkerIsKilledTwiceIsOutOfMemory) {
  Worker worker(Device::kHost);
  worker.execute(small_case(), {}, {30});
  std::atomic<bool> done = false;
  std::thread killer([&] {  // ends every worker as soon as it is there
    while (!done) {
      for (const pid_t child : children()) kill(child, SIGKILL);
    }
  });
  const Execution execution = worker.execute(slow_case(), {}, {300});
  done = true;
  killer.join();
  EXPECT_EQ(execution.raw.ending, Ending::kOutOfMemory);
  EXPECT_THAT(execution.raw.reason, HasSubstr("killed twice"));
}

TEST(Worker, ACaseThatExceedsItsMemoryIsOutOfMemory) {
  Worker worker(Device::kHost);
  const RunLimits limits{60, int64_t{256} << 20};
  Case greedy = small_case();
  greedy.shape = {1, 2, int64_t{1} << 28};  // a workspace of 4 GiB
  const std::vector<Interval> windows = {{0, 10}};
  EXPECT_EQ(worker.execute(greedy, windows, limits).raw.ending, Ending::kCompleted);
  greedy.implementation = *parse_implementation("workspace");
  const Execution execution = worker.execute(greedy, windows, limits);
  EXPECT_EQ(execution.raw.ending, Ending::kOutOfMemory);
  EXPECT_THAT(execution.raw.reason, HasSubstr("more than 256 MiB"));
  greedy.shape = {1, 2, int64_t{1} << 50};  // one that no machine has
  EXPECT_EQ(worker.execute(greedy, windows, limits).raw.ending, Ending::kOutOfMemory);
  EXPECT_EQ(worker.execute(small_case(), {}, {30}).raw.ending, Ending::kCompleted);
}

/// Bytes that this process holds in memory, from /proc: the second field of statm, in pages.
int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0;
  int64_t resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(Worker, WhatEarlierCasesLeftBehindIsNotACasesOwnMemory) {
  Worker worker(Device::kHost);
  constexpr size_t kBytes = size_t{768} << 20;
  void* held = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(held, MAP_FAILED);
  EXPECT_EQ(worker.execute(small_case(), {}, {30}).raw.ending, Ending::kCompleted);  // its process holds a copy
  ASSERT_EQ(munmap(held, kBytes), 0);
  const auto first = children();
  // A worker starts as a copy of this process, which holds whatever the tests before left in it.
  const int64_t limit = resident_bytes() + (int64_t{600} << 20);
  EXPECT_EQ(worker.execute(slow_case(), {}, {300, limit}).raw.ending, Ending::kCompleted);
  EXPECT_NE(children(), first);
}

TEST(Worker, ACaseThatExceedsItsLimitIsAHang) {
  Worker worker(Device::kHost);
  ASSERT_EQ(worker.execute(small_case(), {}, {30}).raw.ending, Ending::kCompleted);
  const Execution slow = worker.execute(slow_case(), {}, {0.05});
  EXPECT_EQ(slow.raw.ending, Ending::kHang);
  EXPECT_THAT(slow.raw.reason, HasSubstr("no end after 0.05 s"));
  EXPECT_THAT(children(), IsEmpty());  // killed, not left behind
  EXPECT_EQ(worker.execute(small_case(), {}, {30}).raw.ending, Ending::kCompleted);
}

TEST(Worker, ACaseWithinItsLimitIsNot) {
  Worker worker(Device::kHost);
  EXPECT_EQ(worker.execute(slow_case(), {}, {300}).raw.ending, Ending::kCompleted);
}

TEST(Worker, AFaultIsNamedAndTheNextCaseRuns) {
  Worker worker(Device::kHost);
  Case wild = small_case();
  wild.implementation = *parse_implementation("spatial/i8");
  wild.memory = MemoryKind::kDense;
  const Execution fault = worker.execute(wild, {}, {30});
  EXPECT_EQ(fault.raw.ending, Ending::kFault);
  EXPECT_THAT(fault.raw.reason, HasSubstr("the worker process ended"));
  EXPECT_EQ(worker.execute(small_case(), {}, {30}).raw.ending, Ending::kCompleted);
}

TEST(Worker, TheHostIsAlwaysAvailable) {
  Worker worker(Device::kHost);
  EXPECT_EQ(worker.unavailable(), "");
  EXPECT_EQ(worker.description(), "host");
}

TEST(Worker, ADeviceThatIsNotThereHasAReason) {
  Worker worker(Device::kCuda);
  const std::string reason = worker.unavailable();
  if (reason.empty()) GTEST_SKIP() << "there is a GPU: " << worker.description();
  EXPECT_THAT(reason, testing::Not(HasSubstr("\n")));
  const Execution execution = worker.execute(small_case(), {}, {30});
  EXPECT_EQ(execution.raw.ending, Ending::kNotExecuted);
  EXPECT_EQ(execution.raw.reason, reason);
  EXPECT_FALSE(execution.launched.has_value());
}

TEST(DeviceOccupancy, TheHostsIsItsOwnWithoutAWorker) {
  Worker worker(Device::kHost);
  const auto blocks = [&](const char* name) {
    DeviceOccupancy occupancy(Device::kHost, *parse_implementation(name), worker);
    return occupancy.resident_blocks({}, 128, 0).resident_blocks;
  };
  EXPECT_EQ(blocks("dispatched"), kHostResidentBlocks);
  EXPECT_EQ(blocks("spatial/i8"), kScaledResidentBlocks);
  EXPECT_THAT(children(), IsEmpty());
}

}  // namespace
}  // namespace brink
