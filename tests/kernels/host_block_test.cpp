#include "kernels/execution/host_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "kernels/execution/host_run.h"

namespace brink {
namespace {

constexpr int64_t kLimit = 1000;

Launch launch_of(int64_t x, int64_t y) {
  Launch launch;
  launch.block_x = x;
  launch.block_y = y;
  return launch;
}

/// As the executor does it: kernels without barriers in turn, the others together.
template <class Kernel>
BlockEnd run(HostBlock& block, const Launch& launch, bool has_barriers, int64_t limit, int64_t x, int64_t y,
             const Kernel& kernel) {
  if (has_barriers) return block.run_together(launch, limit, x, y, kernel);
  return block.run_in_turn(launch, limit, x, y, 0, launch.block_y - 1, kernel);
}

TEST(HostBlock, EveryThreadRunsOnceWithItsOwnIndices) {
  Launch launch = launch_of(4, 3);
  launch.grid_x = 7;
  launch.grid_y = 9;
  for (const bool has_barriers : {false, true}) {
    HostBlock block;
    std::vector<std::pair<int, int>> seen;
    const BlockEnd end = run(block, launch, has_barriers, kLimit, 5, 8, [&](HostThread& thread) {
      EXPECT_EQ(thread.block_x(), 4);
      EXPECT_EQ(thread.block_y(), 3);
      EXPECT_EQ(thread.block_index_x(), 5);
      EXPECT_EQ(thread.block_index_y(), 8);
      EXPECT_EQ(thread.grid_x(), 7);
      EXPECT_EQ(thread.grid_y(), 9);
      seen.emplace_back(thread.thread_y(), thread.thread_x());
    });
    EXPECT_EQ(end, BlockEnd::kCompleted);
    std::vector<std::pair<int, int>> expected;
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 4; ++x) expected.emplace_back(y, x);
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, expected);
  }
}

TEST(HostBlock, NoThreadPassesABarrierBeforeAllHaveReachedIt) {
  HostBlock block;
  int phase_count[4] = {};
  const BlockEnd end = run(block, launch_of(8, 4), true, kLimit, 0, 0, [&](HostThread& thread) {
    for (int phase = 0; phase < 4; ++phase) {
      if (phase > 0) {
        EXPECT_EQ(phase_count[phase - 1], 32) << "phase " << phase;
      }
      ++phase_count[phase];
      thread.sync();
    }
  });
  EXPECT_EQ(end, BlockEnd::kCompleted);
  EXPECT_EQ(phase_count[3], 32);
}

TEST(HostBlock, SharedMemoryCarriesValuesAcrossBarriers) {
  HostBlock block;
  std::vector<float> found(16);
  const BlockEnd end = run(block, launch_of(16, 1), true, kLimit, 0, 0, [&](HostThread& thread) {
    float* shared = thread.shared<float>();
    shared[thread.thread_x()] = static_cast<float>(10 * thread.thread_x());
    thread.sync();
    found[static_cast<size_t>(thread.thread_x())] = shared[(thread.thread_x() + 5) % 16];
  });
  EXPECT_EQ(end, BlockEnd::kCompleted);
  for (int x = 0; x < 16; ++x) EXPECT_EQ(found[static_cast<size_t>(x)], static_cast<float>(10 * ((x + 5) % 16)));
}

TEST(HostBlock, ShufflesExchangeTheLanesOfOneRow) {
  HostBlock block;
  int checked = 0;
  const BlockEnd end = run(block, launch_of(8, 3), true, kLimit, 0, 0, [&](HostThread& thread) {
    // One directly after the other: a lane that is a shuffle ahead must not overwrite what its partner has yet to read.
    for (int round = 0; round < 5; ++round) {
      for (const int mask : {4, 2, 1}) {
        const auto own = [&](int x) { return 1000.0F * static_cast<float>(round) + 100.0F * thread.thread_y() + x; };
        const float other = thread.shuffle_xor(own(thread.thread_x()), mask);
        EXPECT_EQ(other, own(thread.thread_x() ^ mask));
        ++checked;
      }
    }
  });
  EXPECT_EQ(end, BlockEnd::kCompleted);
  EXPECT_EQ(checked, 8 * 3 * 5 * 3);
}

TEST(HostBlock, RowsOfABlockMayShuffleDifferentlyOften) {
  // Rows are warps of their own: one that has no row left in the tensor is done early.
  HostBlock block;
  std::vector<double> sums(4);
  const BlockEnd end = run(block, launch_of(4, 4), true, kLimit, 0, 0, [&](HostThread& thread) {
    for (int round = 0; round < thread.thread_y(); ++round) {
      double sum = thread.thread_x() + 1;
      for (int mask = 2; mask > 0; mask /= 2) sum += thread.shuffle_xor(sum, mask);
      sums[static_cast<size_t>(thread.thread_y())] = sum;
    }
  });
  EXPECT_EQ(end, BlockEnd::kCompleted);
  EXPECT_EQ(sums, (std::vector<double>{0, 10, 10, 10}));
}

TEST(HostBlock, ALoopMayTakeAsManyIterationsAsItsLimit) {
  for (const bool has_barriers : {false, true}) {
    HostBlock block;
    const auto loop = [&](int64_t iterations) {
      return run(block, launch_of(2, 2), has_barriers, kLimit, 0, 0, [&](HostThread& thread) {
        LoopGuard guard = thread.loop_guard();
        for (int64_t i = 0; i < iterations; ++i) guard.tick();
      });
    };
    EXPECT_EQ(loop(kLimit), BlockEnd::kCompleted);
    EXPECT_EQ(loop(kLimit + 1), BlockEnd::kHang);
    EXPECT_EQ(loop(kLimit), BlockEnd::kCompleted);
  }
}

TEST(HostBlock, ALoopThatNeverEndsIsAHang) {
  for (const bool has_barriers : {false, true}) {
    HostBlock block;
    const BlockEnd end = run(block, launch_of(4, 2), has_barriers, kLimit, 0, 0, [&](HostThread& thread) {
      LoopGuard guard = thread.loop_guard();
      // As a u8 counter with a bound of 255 and a step of 2 from 0: 254 becomes 0.
      for (uint8_t d = 0; thread.thread_x() == 3 && d < 255; d = static_cast<uint8_t>(d + 2)) guard.tick();
      if (has_barriers) thread.sync();
    });
    EXPECT_EQ(end, BlockEnd::kHang);
  }
}

TEST(HostBlock, ABarrierInsideALoopThatNeverEndsIsAHang) {
  HostBlock block;
  const BlockEnd end = run(block, launch_of(4, 2), true, kLimit, 0, 0, [](HostThread& thread) {
    for (LoopGuard guard = thread.loop_guard();; guard.tick()) thread.sync();
  });
  EXPECT_EQ(end, BlockEnd::kHang);
}

TEST(HostBlock, ThreadsThatEndWhileOthersWaitAreBarrierDivergence) {
  HostBlock block;
  const BlockEnd end = run(block, launch_of(4, 2), true, kLimit, 0, 0, [](HostThread& thread) {
    if (thread.thread_x() != 0) thread.sync();
  });
  EXPECT_EQ(end, BlockEnd::kBarrierDivergence);
}

TEST(HostBlock, ThreadsAtDifferentBarriersAreBarrierDivergence) {
  HostBlock block;
  BlockEnd end = run(block, launch_of(4, 2), true, kLimit, 0, 0, [](HostThread& thread) {
    thread.sync();
    if (thread.thread_y() == 0) thread.sync();
  });
  EXPECT_EQ(end, BlockEnd::kBarrierDivergence);
  end = run(block, launch_of(4, 2), true, kLimit, 0, 0, [](HostThread& thread) {
    if (thread.thread_y() == 0) {
      thread.sync();
    } else {
      (void)thread.shuffle_xor(1.0F, 1);
    }
  });
  EXPECT_EQ(end, BlockEnd::kBarrierDivergence);
}

/// Runs a reduction that needs every thread and every barrier; its sum.
double sum_of_block(HostBlock& block, int64_t x, int64_t y) {
  double total = 0;
  const BlockEnd end = run(block, launch_of(x, y), true, kLimit, 0, 0, [&](HostThread& thread) {
    auto* shared = thread.shared<double>();
    shared[thread.thread_y() * x + thread.thread_x()] = thread.thread_y() * 100 + thread.thread_x();
    thread.sync();
    if (thread.thread_x() != 0 || thread.thread_y() != 0) return;
    for (int64_t i = 0; i < x * y; ++i) total += shared[i];
  });
  EXPECT_EQ(end, BlockEnd::kCompleted);
  return total;
}

TEST(HostBlock, BlocksAfterAHangOrADivergenceStillRunRight) {
  HostBlock block;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sum_of_block(block, 4, 2), 2 * 6 + 4 * 100);
    EXPECT_EQ(run(block, launch_of(8, 2), true, kLimit, 0, 0,
                  [](HostThread& thread) {
                    for (LoopGuard guard = thread.loop_guard(); thread.thread_x() == 0; guard.tick()) {
                    }
                    thread.sync();
                  }),
              BlockEnd::kHang);
    EXPECT_EQ(sum_of_block(block, 8, 1), 28);
    EXPECT_EQ(run(block, launch_of(4, 1), true, kLimit, 0, 0,
                  [](HostThread& thread) {
                    if (thread.thread_x() == 2) thread.sync();
                  }),
              BlockEnd::kBarrierDivergence);
  }
}

TEST(HostBlock, BlocksOfDifferentSizesFollowEachOther) {
  HostBlock block;
  for (const int64_t x : {1, 16, 4, 32, 2, 1})
    EXPECT_EQ(sum_of_block(block, x, 1), static_cast<double>(x * (x - 1) / 2));
}

TEST(HostBlock, ThreadsAreUnwoundWhereTheirBlockEndsEarly) {
  HostBlock block;
  int alive = 0;
  struct Alive {
    int* count;
    explicit Alive(int* c) : count(c) { ++*count; }
    Alive(const Alive&) = delete;
    Alive& operator=(const Alive&) = delete;
    ~Alive() { --*count; }
  };
  const BlockEnd end = run(block, launch_of(4, 1), true, kLimit, 0, 0, [&](HostThread& thread) {
    const Alive here(&alive);
    if (thread.thread_x() != 3) thread.sync();
  });
  EXPECT_EQ(end, BlockEnd::kBarrierDivergence);
  EXPECT_EQ(alive, 0);
}

TEST(HostBlock, IndependentThreadsRunForTheAskedRowsOnly) {
  HostBlock block;
  std::vector<int> rows;
  const BlockEnd end = block.run_in_turn(launch_of(2, 10), kLimit, 0, 0, 3, 5,
                                         [&](HostThread& thread) { rows.push_back(thread.thread_y()); });
  EXPECT_EQ(end, BlockEnd::kCompleted);
  EXPECT_EQ(rows, (std::vector<int>{3, 3, 4, 4, 5, 5}));
}

TEST(ForEachBlock, VisitsTheGridOrTheListUntilOneDoesNotComplete) {
  Launch launch = launch_of(1, 8);
  launch.grid_x = 2;
  launch.grid_y = 3;
  std::vector<BlockPart> seen;
  const auto note = [&](const BlockPart& part) {
    seen.push_back(part);
    return BlockEnd::kCompleted;
  };
  std::vector<BlockPart> grid;
  for (int64_t y = 0; y < 3; ++y) {
    for (int64_t x = 0; x < 2; ++x) grid.push_back({{x, y}, 0, 7});
  }
  EXPECT_EQ(for_each_block(launch, nullptr, note), BlockEnd::kCompleted);
  EXPECT_EQ(seen, grid);
  seen.clear();
  const std::vector<BlockPart> list = {{{1, 2}, 3, 4}, {{0, 1}, 0, 7}, {{0, 0}, 7, 7}};
  EXPECT_EQ(for_each_block(launch, &list, note), BlockEnd::kCompleted);
  EXPECT_EQ(seen, list);
  seen.clear();
  const BlockEnd end = for_each_block(launch, &list, [&](const BlockPart& part) {
    note(part);
    return part == list[1] ? BlockEnd::kHang : BlockEnd::kCompleted;
  });
  EXPECT_EQ(end, BlockEnd::kHang);
  EXPECT_EQ(seen.size(), 2u);
}

}  // namespace
}  // namespace brink
