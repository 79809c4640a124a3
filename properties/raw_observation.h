#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/execution/interval.h"
#include "kernels/softmax/stamp.h"

namespace brink {

/// How an execution ended, before anything is compared.
enum class Ending { kCompleted, kHang, kFault, kLaunchRejected, kNotExecuted, kOutOfMemory };

/// Which memory the tensors of a case live in.
enum class MemoryKind { kDense, kAliased, kSparse };

/// The value that one element was found with, as the bits of its element type.
struct FoundValue {
  int64_t element = 0;
  uint64_t bits = 0;
};

/// What a run left in memory, compared with the closed form alone: nothing here knows what was predicted. Intervals are
/// of output elements, sorted and disjoint, and only elements in `looked_at` were looked at.
struct RawObservation {
  Ending ending = Ending::kNotExecuted;
  std::string reason;  ///< why it faulted, was rejected or not executed: one line
  std::vector<Interval> looked_at;
  std::vector<Interval> wrong;      ///< hold neither the closed form's value nor the poison from before the run
  std::vector<Interval> unwritten;  ///< still hold the poison
  std::optional<std::vector<Interval>> written_twice;  ///< where the memory counts writes; a GPU's does not
  std::vector<Interval> out_of_bounds;  ///< element addresses outside the tensors, where the memory notes them
  bool wild_writes = false;             ///< a mark was left outside the tensors, its address unknown
  std::vector<FoundValue> values;       ///< of wrong and twice-written elements, in order; at most kMaxValues
  bool complete = true;                 ///< false: the lists were cut off
  double kernel_ms = 0;
  double prepare_ms = 0;       ///< memory and inputs, before the kernel
  double compare_ms = 0;       ///< with the closed form, after it
  int64_t physical_bytes = 0;  ///< memory that really held the tensors
  KernelStamp stamp;           ///< what the kernel that ran said of itself; its word is 0 where none did

  static constexpr size_t kMaxValues = 1 << 16;
};

/// Bits that outputs hold before a run: a NaN that no arithmetic produces.
constexpr uint64_t poison_bits(int64_t element_bytes) {
  return element_bytes == 8 ? 0xfff5a5a55a5aa5a5u : element_bytes == 4 ? 0xffa5a55au : 0xffa5u;
}

}  // namespace brink
