#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace brink {

/// A range of address space on the host that is given back when the object ends.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  /// First byte of the tensor inside the range.
  void* data() const { return static_cast<char*>(base_) + offset_; }
  /// Bytes of memory that were set aside for it, where that is known beforehand (aliased); else 0.
  int64_t physical_bytes() const { return physical_bytes_; }

  /// `bytes` of untouched, zero memory; only pages that are touched take memory.
  static std::variant<Mapping, std::string> sparse(int64_t bytes);
  /// `bytes` of memory with `before` and `after` bytes around it that fault when touched.
  static std::variant<Mapping, std::string> guarded(int64_t bytes, int64_t before, int64_t after);
  /// `bytes` of address space over one file of `period` bytes that is mapped again and again, but for the slots in
  /// `own_slots` (sorted): each of those has memory of its own.
  static std::variant<Mapping, std::string> aliased(int64_t bytes, int64_t period,
                                                    const std::vector<int64_t>& own_slots);

 private:
  Mapping(void* base, int64_t length, int64_t offset, int64_t physical)
      : base_(base), length_(length), offset_(offset), physical_bytes_(physical) {}

  void* base_ = nullptr;
  int64_t length_ = 0;
  int64_t offset_ = 0;
  int64_t physical_bytes_ = 0;
};

/// Memory that this machine can still give, in bytes (MemAvailable); 0 where it does not say.
int64_t available_bytes();

/// Memory of this process that is resident now, in bytes.
int64_t resident_bytes();

}  // namespace brink
