#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/execution/alias_period.h"
#include "kernels/execution/cuda/cuda_memory.h"

// Aliased memory for one tensor after another. A mapping costs far more than filling what it leads to, so mappings stay
// from tensor to tensor wherever the next one needs the same; what they hold is written anew before every run.

namespace brink {

/// What the addresses around tensors are mapped to, over and over.
class CudaTripwire {
 public:
  static std::variant<CudaTripwire, std::string> create();

  const CudaPhysical& slot() const { return slot_; }
  const CudaPhysical& page() const { return page_; }
  int64_t bytes() const { return slot_.bytes() + page_.bytes(); }

 private:
  CudaTripwire(CudaPhysical slot, CudaPhysical page) : slot_(std::move(slot)), page_(std::move(page)) {}

  CudaPhysical slot_;
  CudaPhysical page_;  // where less than a slot is left: mappings start at the first byte of their memory
};

/// Physical memory by number, created when it is first asked for and then kept.
class CudaPool {
 public:
  /// A pointer that stays valid, or an error.
  std::variant<const CudaPhysical*, std::string> get(int number, int64_t bytes);
  int64_t bytes() const { return bytes_; }

 private:
  std::map<int, CudaPhysical> memory_;
  int64_t bytes_ = 0;
};

/// Address space of aliased tensors, one at a time, on a grid of slots that starts with the tensor.
class CudaAliasedSpace {
 public:
  /// Makes this the address space of a tensor, and ends that of the tensor before it; nothing on the GPU may be using
  /// that. One filler of kPeriodBytes lies over the whole tensor, except for the pages `own` (own_pages() of
  /// execution/alias_period.h, of the same tensor), which get memory of their own. The rest of its extent, up to whole
  /// slots, is mapped to the tripwire. `pool` and `tripwire` are the same in every call; other spaces may share them,
  /// but no two tensors that are in use at once may share a pool.
  std::variant<CudaTensor, std::string> arrange(int64_t numel, int64_t element_bytes, const IndexReach& reach,
                                                const std::vector<int64_t>& own, CudaPool& pool,
                                                const CudaTripwire& tripwire);

 private:
  // What a page or slot is mapped to: own memory by its number in the pool, or one of the constants in the .cpp.
  using Content = int;
  using Pages = std::array<Content, kPeriodPages>;
  struct Slot {
    Content whole;
    Pages pages;  // where `whole` says so
    bool operator==(const Slot&) const = default;
  };

  std::optional<std::string> make_room(int64_t slots_before, int64_t slots_after);
  void number_own_pages(const std::vector<int64_t>& own);
  Slot wanted(int64_t slot, int64_t pages, int64_t slots) const;
  std::optional<std::string> change(int64_t slot, const Slot& to, CudaPool& pool, const CudaTripwire& tripwire);
  std::optional<std::string> change_part(int64_t page, int64_t count, Content from, Content to, CudaPool& pool,
                                         const CudaTripwire& tripwire);
  std::variant<CudaTensor, std::string> try_arrange(int64_t numel, int64_t element_bytes, const CudaExtent& extent,
                                                    const std::vector<int64_t>& own, CudaPool& pool,
                                                    const CudaTripwire& tripwire);
  int64_t offset_of(int64_t page) const { return slots_before_ * kPeriodBytes + page * kPageBytes; }

  std::optional<CudaAddressRange> range_;
  int64_t slots_before_ = 0;
  std::vector<Content> slots_;        // all of the range's, in order
  std::map<int64_t, Pages> by_page_;  // the slots that are mapped page by page
  std::map<int64_t, Content> own_;    // numbers of own pages
  std::vector<Interval> new_;         // pages mapped anew that are not accessible yet, in order
};

}  // namespace brink
