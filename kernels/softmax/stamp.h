#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/index/platform.h"
#include "kernels/softmax/launch.h"

namespace brink {

/// What an instance of a kernel says of itself while it runs: who it is, from its own template arguments, and the
/// launch that its threads see. Nobody on the launching side writes here.
struct KernelStamp {
  uint32_t word = 0;  ///< 0: no kernel ran; else see stamp_word()
  int64_t grid_x = 0;
  int64_t grid_y = 0;
  int64_t block_x = 0;
  int64_t block_y = 0;

  bool operator==(const KernelStamp&) const = default;
};

/// Operation, variant, dtype, width and sign of the index type, and a mark, in one word.
template <class T, Operation kOperation, Variant kVariant, class I>
constexpr uint32_t stamp_word() {
  return 0xb5000000u | static_cast<uint32_t>(kOperation) << 16 | static_cast<uint32_t>(kVariant) << 12 |
         static_cast<uint32_t>(ElementTraits<T>::kDType) << 8 | static_cast<uint32_t>(sizeof(I)) << 1 |
         (std::is_signed_v<I> ? 1u : 0u);
}

/// The stamp of the instance that `thread` belongs to.
template <class T, Operation kOperation, Variant kVariant, class I, class Thread>
BRINK_HOST_DEVICE KernelStamp stamp_of(const Thread& thread) {
  return {stamp_word<T, kOperation, kVariant, I>(), thread.grid_x(), thread.grid_y(), thread.block_x(),
          thread.block_y()};
}

/// The instance that left a stamp; nothing where none did.
inline std::optional<KernelId> kernel_of(const KernelStamp& stamp) {
  if (stamp.word >> 24 != 0xb5) return std::nullopt;
  const int bits = static_cast<int>(stamp.word >> 1 & 0x7f) * 8;
  const bool is_signed = (stamp.word & 1) != 0;
  for (const IndexType type : kIndexTypes) {
    if (limits_of(type).bits != bits || limits_of(type).is_signed != is_signed) continue;
    return KernelId{static_cast<Operation>(stamp.word >> 16 & 0xff), static_cast<Variant>(stamp.word >> 12 & 0xf),
                    static_cast<DType>(stamp.word >> 8 & 0xf), type};
  }
  return std::nullopt;
}

}  // namespace brink
