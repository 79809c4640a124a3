#include "kernels/execution/host_block.h"

#include <algorithm>
#include <boost/context/fixedsize_stack.hpp>
#include <memory>
#include <utility>

namespace brink {

namespace {
constexpr size_t kStackBytes = size_t{128} * 1024;
}

HostBlock::Strand::~Strand() {
  if (!fiber) return;
  FiberSwitch there(stack);
  fiber = boost::context::fiber();  // unwinds it
}

void HostBlock::start_strand(Strand& strand) {
  boost::context::fixedsize_stack stacks(kStackBytes);
  const boost::context::stack_context memory = stacks.allocate();
  strand.stack = {static_cast<const char*>(memory.sp) - memory.size, memory.size};
  strand.fiber = boost::context::fiber(std::allocator_arg, boost::context::preallocated(memory.sp, memory.size, memory),
                                       stacks, [this, &strand](boost::context::fiber&& from) {
                                         FiberSwitch::entered(&strand.scheduler_stack);
                                         struct Leaving {
                                           const StackBounds& to;
                                           ~Leaving() { FiberSwitch::leaving_for_good(to); }
                                         } leaving{strand.scheduler_stack};
                                         strand.scheduler = std::move(from);
                                         while (true) {
                                           try {
                                             (*body_)(*strand.thread);
                                           } catch (const LoopNeverEnds&) {
                                             strand.hung = true;
                                           }
                                           strand.wait = Wait::kDone;
                                           FiberSwitch there(strand.scheduler_stack, &strand.scheduler_stack);
                                           strand.scheduler = std::move(strand.scheduler).resume();
                                         }
                                         return std::move(strand.scheduler);
                                       });
}

void HostBlock::wait(HostThread& thread, Wait what, Barrier barrier) {
  Strand& strand = strands_[static_cast<size_t>(thread.linear())];
  strand.wait = what;
  strand.barrier = barrier;
  FiberSwitch there(strand.scheduler_stack, &strand.scheduler_stack);
  strand.scheduler = std::move(strand.scheduler).resume();
}

// Whether some threads wait at a barrier that the others do not wait at.
bool HostBlock::diverges(size_t threads) {
  const auto waits = [](const Strand& strand) { return strand.wait == Wait::kBlockBarrier; };
  const auto end = strands_.begin() + static_cast<std::ptrdiff_t>(threads);
  const auto first = std::find_if(strands_.begin(), end, waits);
  if (first == end) return false;
  divergence_.barrier = first->barrier;
  divergence_.threads = static_cast<int64_t>(threads);
  divergence_.waiting = std::count_if(
      first, end, [&](const Strand& strand) { return waits(strand) && strand.barrier == first->barrier; });
  return divergence_.waiting != divergence_.threads;
}

BlockEnd HostBlock::run_together(const Launch& launch, int64_t loop_limit, int64_t index_x, int64_t index_y,
                                 const std::function<void(HostThread&)>& body) {
  const auto threads = static_cast<size_t>(launch.threads());
  if (strands_.size() < threads) {
    strands_ = std::vector<Strand>(threads);
    for (Strand& strand : strands_) start_strand(strand);
  }
  if (shared_.size() < threads) shared_.resize(threads);
  for (auto& slots : exchange_) {
    if (slots.size() < threads) slots.resize(threads);
  }
  body_ = &body;
  divergence_.index_x = index_x;
  divergence_.index_y = index_y;
  for (size_t i = 0; i < threads; ++i) {
    Strand& strand = strands_[i];
    strand.thread.emplace(*this, launch, loop_limit);
    strand.thread->place(index_x, index_y, static_cast<int>(i) % static_cast<int>(launch.block_x),
                         static_cast<int>(i) / static_cast<int>(launch.block_x));
    strand.wait = Wait::kShuffle;
    strand.hung = false;
  }
  // Each round takes every thread to its next barrier, so all that share a barrier must wait at the same kind of one.
  BlockEnd end = BlockEnd::kCompleted;
  size_t running = threads;
  while (running > 0 && end == BlockEnd::kCompleted) {
    running = 0;
    for (size_t i = 0; i < threads; ++i) {
      Strand& strand = strands_[i];
      if (strand.wait == Wait::kDone) continue;
      {
        FiberSwitch there(strand.stack);
        strand.fiber = std::move(strand.fiber).resume();
      }
      if (strand.hung) end = BlockEnd::kHang;
      if (strand.wait != Wait::kDone) ++running;
    }
    if (end == BlockEnd::kCompleted && diverges(threads)) end = BlockEnd::kBarrierDivergence;
  }
  if (end != BlockEnd::kCompleted) strands_.clear();  // unwinds the threads that still wait
  return end;
}

}  // namespace brink
