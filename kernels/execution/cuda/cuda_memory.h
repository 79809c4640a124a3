#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/index/index_type.h"

// Address spaces of tensors on the GPU, made with the driver's virtual-memory functions. Everything is unmapped and
// released by the destructors. Errors (no memory, no support) are one-line strings.

namespace brink {

/// The element addresses that an index can reach, in elements from the tensor's start: -before .. end - 1.
struct IndexReach {
  int64_t before = 0;
  int64_t end = 0;
};

/// What a wrapped index of this type can reach: 2^31 before the start for i32, 2^32 after it for 32 bits of either
/// sign. 64-bit indices do not wrap within a tensor: nothing beyond it.
constexpr IndexReach reach_of(IndexType type) {
  const IndexLimits limits = limits_of(type);
  if (limits.bits > 32) return {};
  return {limits.is_signed ? int64_t{1} << (limits.bits - 1) : 0, int64_t{1} << limits.bits};
}

/// Physical memory on the current GPU, not mapped anywhere by itself.
class CudaPhysical {
 public:
  /// `bytes`: a multiple of kPageBytes.
  static std::variant<CudaPhysical, std::string> create(int64_t bytes);

  CudaPhysical(CudaPhysical&& other) noexcept
      : handle_(std::exchange(other.handle_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}
  CudaPhysical& operator=(CudaPhysical&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~CudaPhysical();

  unsigned long long handle() const { return handle_; }
  int64_t bytes() const { return bytes_; }

 private:
  CudaPhysical(unsigned long long handle, int64_t bytes) : handle_(handle), bytes_(bytes) {}

  unsigned long long handle_ = 0;
  int64_t bytes_ = 0;
};

/// A reserved range of addresses and what is mapped in it.
class CudaAddressRange {
 public:
  /// `bytes`: a multiple of kPageBytes; the start is aligned to kPageBytes.
  static std::variant<CudaAddressRange, std::string> reserve(int64_t bytes);

  CudaAddressRange(CudaAddressRange&& other) noexcept
      : start_(std::exchange(other.start_, 0)),
        bytes_(std::exchange(other.bytes_, 0)),
        mappings_(std::exchange(other.mappings_, {})) {}
  CudaAddressRange& operator=(CudaAddressRange&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(bytes_, other.bytes_);
    std::swap(mappings_, other.mappings_);
    return *this;
  }
  ~CudaAddressRange();

  /// Maps all of `memory` at byte `offset` of the range. Returns the error, if any.
  std::optional<std::string> map(int64_t offset, const CudaPhysical& memory);
  /// Unmaps what was mapped at byte `offset`; nothing on the GPU may be using it. Returns the error, if any.
  std::optional<std::string> unmap(int64_t offset);
  /// Lets kernels read and write bytes offset .. offset + bytes - 1, all of them mapped. Returns the error, if any.
  std::optional<std::string> allow_access(int64_t offset, int64_t bytes);

  uint64_t start() const { return start_; }
  int64_t mappings() const { return static_cast<int64_t>(mappings_.size()); }

 private:
  CudaAddressRange(uint64_t start, int64_t bytes) : start_(start), bytes_(bytes) {}

  uint64_t start_ = 0;
  int64_t bytes_ = 0;
  std::map<int64_t, int64_t> mappings_;  // bytes by offset
};

/// What a piece of a tensor's address space is.
enum class PieceKind {
  kOwn,       ///< stands for itself
  kFiller,    ///< stands for every place of the same filler bytes that has no memory of its own
  kTripwire,  ///< outside the tensor; stands for every place that is mapped to the tripwire
};

/// Elements that have to be filled: first .. first + count - 1, at their own addresses. An own piece may reach past the
/// tensor's end, to the end of its last page.
struct CudaPiece {
  int64_t first = 0;
  int64_t count = 0;
  PieceKind kind = PieceKind::kOwn;
};

/// A tensor in GPU memory that something else owns.
struct CudaTensor {
  void* data = nullptr;  ///< device address of element 0, aligned to kPageBytes
  std::vector<CudaPiece> pieces;
  int64_t mappings = 0;
  int64_t physical_bytes = 0;  ///< without the tripwire
};

/// Bytes around a tensor's start, whole pages.
struct CudaExtent {
  int64_t before = 0;  ///< of addresses before the start: what an index can reach, and a page
  int64_t mapped = 0;  ///< of the tensor
  int64_t end = 0;     ///< from the start to the end of what an index can reach or of the tensor, and a page
};

/// The extent of a tensor of `numel` >= 1 elements, or why the address space cannot hold it. The page on either side is
/// for accesses of several elements.
std::variant<CudaExtent, std::string> extent_of(int64_t numel, int64_t element_bytes, const IndexReach& reach);

/// A tensor in memory of its own. The rest of its extent is reserved and not mapped: an access there faults.
class CudaDenseTensor {
 public:
  static std::variant<CudaDenseTensor, std::string> create(int64_t numel, int64_t element_bytes,
                                                           const IndexReach& reach);
  const CudaTensor& tensor() const { return tensor_; }

 private:
  CudaDenseTensor(CudaAddressRange range, CudaPhysical memory, CudaTensor tensor)
      : memory_(std::move(memory)), range_(std::move(range)), tensor_(std::move(tensor)) {}

  CudaPhysical memory_;
  CudaAddressRange range_;  // ends first
  CudaTensor tensor_;
};

/// `address` as a pointer.
inline void* device_pointer(uint64_t address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace brink
