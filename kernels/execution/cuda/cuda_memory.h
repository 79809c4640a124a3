#pragma once

#include <cstdint>
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
  /// Lets kernels read and write bytes offset .. offset + bytes - 1, all of them mapped. Returns the error, if any.
  std::optional<std::string> allow_access(int64_t offset, int64_t bytes);

  uint64_t start() const { return start_; }
  int64_t mappings() const { return static_cast<int64_t>(mappings_.size()); }

 private:
  struct Mapping {
    uint64_t at;
    int64_t bytes;
  };
  CudaAddressRange(uint64_t start, int64_t bytes) : start_(start), bytes_(bytes) {}

  uint64_t start_ = 0;
  int64_t bytes_ = 0;
  std::vector<Mapping> mappings_;
};

/// Elements that have to be filled: first .. first + count - 1, at their own addresses. A piece may reach past the
/// tensor's end, to the end of its last page.
struct CudaPiece {
  int64_t first = 0;
  int64_t count = 0;
  bool filler = false;  ///< stands for every slot that has no memory of its own
};

/// The address space of one tensor. Its start is aligned to kPageBytes.
class CudaTensor {
 public:
  /// All of the tensor in memory of its own. The addresses that `reach` covers, and at least one page on either side,
  /// are reserved and not mapped: an access there faults.
  static std::variant<CudaTensor, std::string> dense(int64_t numel, int64_t element_bytes, const IndexReach& reach);

  /// One filler of kPeriodBytes over the whole tensor, except for the slots `own` (own_slots() of
  /// execution/alias_period.h, of the same tensor), which get memory of their own. The addresses that `reach` covers,
  /// and at least one page on either side, are mapped to `tripwire`, over and over.
  static std::variant<CudaTensor, std::string> aliased(int64_t numel, int64_t element_bytes, const IndexReach& reach,
                                                       const std::vector<int64_t>& own, const CudaPhysical& tripwire);

  /// Device address of element 0.
  void* data() const { return at(range_.start() + static_cast<uint64_t>(before_bytes_)); }
  const std::vector<CudaPiece>& pieces() const { return pieces_; }
  /// Device address where all of the tripwire is mapped; null in dense memory.
  void* tripwire() const { return has_tripwire_ ? at(range_.start()) : nullptr; }
  int64_t mappings() const { return range_.mappings(); }
  /// Without the tripwire.
  int64_t physical_bytes() const { return physical_bytes_; }

 private:
  static void* at(uint64_t address);
  CudaTensor(CudaAddressRange range, int64_t before_bytes) : range_(std::move(range)), before_bytes_(before_bytes) {}

  // Maps `memory` at byte `offset` of the tensor and keeps it.
  std::optional<std::string> map_own(int64_t offset, CudaPhysical memory);

  CudaAddressRange range_;
  int64_t before_bytes_;
  std::vector<CudaPhysical> memory_;
  std::vector<CudaPiece> pieces_;
  int64_t physical_bytes_ = 0;
  bool has_tripwire_ = false;
};

/// Bytes of a tripwire, 2 to 64 MiB, that keeps the number of its mappings over this reach small.
int64_t tripwire_bytes(const IndexReach& reach, int64_t element_bytes);

}  // namespace brink
