#pragma once

#include <boost/context/fiber.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/execution/fiber_switch.h"
#include "kernels/softmax/barrier.h"
#include "kernels/softmax/launch.h"

namespace brink {

/// Thrown by a loop guard: the loop has run longer than any loop that ends.
struct LoopNeverEnds {};

/// Counts the iterations of one loop.
class LoopGuard {
 public:
  explicit LoopGuard(int64_t limit) : left_(limit) {}
  void tick() {
    if (--left_ < 0) throw LoopNeverEnds();
  }

 private:
  int64_t left_;
};

class HostBlock;

/// One thread's view of a launch on the host.
class HostThread {
 public:
  HostThread(HostBlock& block, const Launch& launch, int64_t loop_limit)
      : block_(&block), launch_(&launch), loop_limit_(loop_limit) {}

  int thread_x() const { return x_; }
  int thread_y() const { return y_; }
  int block_x() const { return static_cast<int>(launch_->block_x); }
  int64_t block_y() const { return launch_->block_y; }
  int64_t block_index_x() const { return index_x_; }
  int64_t block_index_y() const { return index_y_; }
  int64_t grid_x() const { return launch_->grid_x; }
  int64_t grid_y() const { return launch_->grid_y; }
  LoopGuard loop_guard() const { return LoopGuard(loop_limit_); }

  void sync(Barrier barrier = Barrier::kUnnamed);
  /// The value of the lane whose x is this one's xor `mask`, in the same block row.
  template <class Acc>
  Acc shuffle_xor(Acc value, int mask);
  template <class Acc>
  Acc* shared();

 private:
  friend class HostBlock;
  void place(int64_t index_x, int64_t index_y, int x, int y) {
    index_x_ = index_x;
    index_y_ = index_y;
    x_ = x;
    y_ = y;
  }
  int linear() const { return y_ * block_x() + x_; }

  HostBlock* block_;
  const Launch* launch_;
  int64_t loop_limit_;
  int64_t index_x_ = 0;
  int64_t index_y_ = 0;
  int x_ = 0;
  int y_ = 0;
  int parity_ = 0;
};

/// How a block ended.
enum class BlockEnd { kCompleted, kHang, kBarrierDivergence };

/// A barrier that some threads of a block wait at while others do not.
struct BarrierDivergence {
  Barrier barrier = Barrier::kUnnamed;
  int64_t index_x = 0;  ///< of the block
  int64_t index_y = 0;
  int64_t waiting = 0;
  int64_t threads = 0;  ///< of the block
};

/// Runs the threads of one block. Keeps its fibers and shared memory from block to block.
class HostBlock {
 public:
  HostBlock() = default;
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;

  /// Runs `kernel(thread)` for the threads of block (index_x, index_y) whose y is first_y .. last_y, one after the
  /// other: for kernels without barriers.
  template <class Kernel>
  BlockEnd run_in_turn(const Launch& launch, int64_t loop_limit, int64_t index_x, int64_t index_y, int64_t first_y,
                       int64_t last_y, const Kernel& kernel) {
    HostThread thread(*this, launch, loop_limit);
    try {
      for (int64_t y = first_y; y <= last_y; ++y) {
        for (int x = 0; x < launch.block_x; ++x) {
          thread.place(index_x, index_y, x, static_cast<int>(y));
          kernel(thread);
        }
      }
    } catch (const LoopNeverEnds&) {
      return BlockEnd::kHang;
    }
    return BlockEnd::kCompleted;
  }

  /// Runs all threads of block (index_x, index_y) as fibers that go from barrier to barrier together.
  BlockEnd run_together(const Launch& launch, int64_t loop_limit, int64_t index_x, int64_t index_y,
                        const std::function<void(HostThread&)>& kernel);

  /// What the last block disagreed about, where it ended with kBarrierDivergence.
  const BarrierDivergence& divergence() const { return divergence_; }

 private:
  friend class HostThread;
  using Body = std::function<void(HostThread&)>;
  enum class Wait : uint8_t { kBlockBarrier, kShuffle, kDone };
  struct Strand {
    boost::context::fiber fiber;
    boost::context::fiber scheduler;
    StackBounds stack;            // the fiber's own
    StackBounds scheduler_stack;  // of whoever resumed it last
    std::optional<HostThread> thread;
    Wait wait = Wait::kDone;
    Barrier barrier = Barrier::kUnnamed;  // that it waits at
    bool hung = false;

    Strand() = default;
    Strand(const Strand&) = delete;
    Strand& operator=(const Strand&) = delete;
    ~Strand();
  };

  void start_strand(Strand& strand);
  void wait(HostThread& thread, Wait what, Barrier barrier = Barrier::kUnnamed);
  bool diverges(size_t threads);

  std::vector<Strand> strands_;
  const Body* body_ = nullptr;
  BarrierDivergence divergence_;
  std::vector<double> shared_;
  std::vector<double> exchange_[2];
};

inline void HostThread::sync(Barrier barrier) { block_->wait(*this, HostBlock::Wait::kBlockBarrier, barrier); }

template <class Acc>
Acc HostThread::shuffle_xor(Acc value, int mask) {
  // Two buffers in turn: a lane that is one shuffle ahead must not overwrite what its partner has yet to read.
  std::vector<double>& slots = block_->exchange_[parity_];
  parity_ ^= 1;
  slots[static_cast<size_t>(linear())] = static_cast<double>(value);
  block_->wait(*this, HostBlock::Wait::kShuffle);
  return static_cast<Acc>(slots[static_cast<size_t>(linear() ^ mask)]);
}

template <class Acc>
Acc* HostThread::shared() {
  return reinterpret_cast<Acc*>(block_->shared_.data());
}

}  // namespace brink
