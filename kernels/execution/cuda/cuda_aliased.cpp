#include "kernels/execution/cuda/cuda_aliased.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kernels/index/checked.h"

namespace brink {

namespace {

// Contents. The pool's memory: pages 0 .. kPeriodPages - 1 of the filler one by one, the filler as a whole, own pages.
constexpr int kFillerPage = 0;
constexpr int kFillerSlot = kPeriodPages;
constexpr int kOwnPage = kFillerSlot + 1;
// Not the pool's.
constexpr int kNothing = -1;
constexpr int kTripwire = -2;
constexpr int kByPage = -3;  // a slot

}  // namespace

std::variant<CudaTripwire, std::string> CudaTripwire::create() {
  auto slot = CudaPhysical::create(kPeriodBytes);
  if (auto* error = std::get_if<std::string>(&slot)) return std::move(*error);
  auto page = CudaPhysical::create(kPageBytes);
  if (auto* error = std::get_if<std::string>(&page)) return std::move(*error);
  return CudaTripwire(std::get<CudaPhysical>(std::move(slot)), std::get<CudaPhysical>(std::move(page)));
}

std::variant<const CudaPhysical*, std::string> CudaPool::get(int number, int64_t bytes) {
  auto found = memory_.find(number);
  if (found == memory_.end()) {
    auto created = CudaPhysical::create(bytes);
    if (auto* error = std::get_if<std::string>(&created)) return std::move(*error);
    found = memory_.emplace(number, std::get<CudaPhysical>(std::move(created))).first;
    bytes_ += bytes;
  }
  return &found->second;
}

std::variant<CudaTensor, std::string> CudaAliasedSpace::arrange(int64_t numel, int64_t element_bytes,
                                                                const IndexReach& reach,
                                                                const std::vector<int64_t>& own, CudaPool& pool,
                                                                const CudaTripwire& tripwire) {
  auto extent = extent_of(numel, element_bytes, reach);
  if (auto* error = std::get_if<std::string>(&extent)) return std::move(*error);
  auto tensor = try_arrange(numel, element_bytes, std::get<CudaExtent>(extent), own, pool, tripwire);
  // What is mapped after an error is not known for certain: the next tensor starts from nothing.
  if (std::holds_alternative<std::string>(tensor)) *this = CudaAliasedSpace();
  return tensor;
}

// Reserves addresses for this many slots on either side of tensors' start, where there are not enough yet.
std::optional<std::string> CudaAliasedSpace::make_room(int64_t slots_before, int64_t slots_after) {
  // With room to spare, so that a tensor that is a little longer than the one before it keeps its mappings.
  constexpr int64_t kUnit = 1024;
  if (range_ && slots_before <= slots_before_ && slots_before_ + slots_after <= static_cast<int64_t>(slots_.size())) {
    return std::nullopt;
  }
  *this = CudaAliasedSpace();
  const int64_t slots = ceil_div(slots_before + slots_after, kUnit) * kUnit;
  auto range = CudaAddressRange::reserve(slots * kPeriodBytes);
  if (auto* error = std::get_if<std::string>(&range)) return std::move(*error);
  range_ = std::get<CudaAddressRange>(std::move(range));
  slots_before_ = slots_before;
  slots_.assign(static_cast<size_t>(slots), kNothing);
  return std::nullopt;
}

// A page that was own before keeps its memory; the others get the lowest numbers that are free.
void CudaAliasedSpace::number_own_pages(const std::vector<int64_t>& own) {
  std::map<int64_t, Content> numbers;
  std::set<Content> taken;
  for (const int64_t page : own) {
    const auto found = own_.find(page);
    // A number beyond this tensor's count would keep memory in use that it does not need.
    if (found == own_.end() || found->second >= kOwnPage + static_cast<int>(own.size())) continue;
    numbers.insert(*found);
    taken.insert(found->second);
  }
  Content next = kOwnPage;
  for (const int64_t page : own) {
    if (numbers.contains(page)) continue;
    while (taken.contains(next)) ++next;
    numbers.emplace(page, next++);
  }
  own_ = std::move(numbers);
}

// What `slot` has to be mapped to for a tensor of this many pages; `slots` is the end of what has to be mapped.
CudaAliasedSpace::Slot CudaAliasedSpace::wanted(int64_t slot, int64_t pages, int64_t slots) const {
  if (slot >= slots) return {kNothing, {}};
  if (slot < 0 || slot * kPeriodPages >= pages) return {kTripwire, {}};
  const auto first_own = own_.lower_bound(slot * kPeriodPages);
  if (first_own == own_.end() || first_own->first >= (slot + 1) * kPeriodPages) return {kFillerSlot, {}};
  Slot result{kByPage, {}};
  for (int i = 0; i < kPeriodPages; ++i) {
    const int64_t page = slot * kPeriodPages + i;
    const auto found = own_.find(page);
    result.pages[static_cast<size_t>(i)] = page >= pages         ? kTripwire
                                           : found != own_.end() ? found->second
                                                                 : kFillerPage + i;
  }
  return result;
}

// Maps pages page .. page + count - 1, a slot or a single page, to `to` instead of `from`.
std::optional<std::string> CudaAliasedSpace::change_part(int64_t page, int64_t count, Content from, Content to,
                                                         CudaPool& pool, const CudaTripwire& tripwire) {
  if (from == to) return std::nullopt;
  const int64_t offset = offset_of(page);
  if (from != kNothing) {
    if (auto error = range_->unmap(offset)) return error;
  }
  if (to == kNothing) return std::nullopt;
  const CudaPhysical* memory = count == 1 ? &tripwire.page() : &tripwire.slot();
  if (to != kTripwire) {
    auto found = pool.get(to, count * kPageBytes);
    if (auto* error = std::get_if<std::string>(&found)) return std::move(*error);
    memory = std::get<const CudaPhysical*>(found);
  }
  if (auto error = range_->map(offset, *memory)) return error;
  if (!new_.empty() && new_.back().last + 1 == page) {
    new_.back().last = page + count - 1;
  } else {
    new_.push_back({page, page + count - 1});
  }
  return std::nullopt;
}

std::optional<std::string> CudaAliasedSpace::change(int64_t slot, const Slot& to, CudaPool& pool,
                                                    const CudaTripwire& tripwire) {
  Content& content = slots_[static_cast<size_t>(slots_before_ + slot)];
  const bool was_by_page = content == kByPage;
  if (!was_by_page && content == to.whole) return std::nullopt;
  const int64_t first = slot * kPeriodPages;
  Pages from;
  from.fill(kNothing);
  if (was_by_page) from = by_page_.at(slot);
  Pages pages = to.pages;
  if (to.whole != kByPage) pages.fill(kNothing);
  // A slot's mapping cannot be undone in part: all of it goes before single pages come, and the other way round.
  if (!was_by_page && to.whole == kByPage) {
    if (auto error = change_part(first, kPeriodPages, content, kNothing, pool, tripwire)) return error;
  }
  for (int i = 0; i < kPeriodPages; ++i) {
    const auto k = static_cast<size_t>(i);
    if (auto error = change_part(first + i, 1, from[k], pages[k], pool, tripwire)) return error;
  }
  if (to.whole == kByPage) {
    by_page_[slot] = pages;
  } else {
    by_page_.erase(slot);
    if (auto error = change_part(first, kPeriodPages, was_by_page ? kNothing : content, to.whole, pool, tripwire)) {
      return error;
    }
  }
  content = to.whole;
  return std::nullopt;
}

std::variant<CudaTensor, std::string> CudaAliasedSpace::try_arrange(int64_t numel, int64_t element_bytes,
                                                                    const CudaExtent& extent,
                                                                    const std::vector<int64_t>& own, CudaPool& pool,
                                                                    const CudaTripwire& tripwire) {
  const int64_t pages = page_count(numel, element_bytes);
  const int64_t before = ceil_div(extent.before, kPeriodBytes);
  const int64_t end = ceil_div(extent.end, kPeriodBytes);
  if (!std::is_sorted(own.begin(), own.end()) || own.empty() || own.front() < 0 || own.back() != pages - 1) {
    return "pages with memory of their own are not sorted, lie outside the tensor, or leave out its last page";
  }
  if (auto error = make_room(before, end)) return *error;
  number_own_pages(own);
  new_.clear();
  for (int64_t slot = -slots_before_; slot < static_cast<int64_t>(slots_.size()) - slots_before_; ++slot) {
    const Slot to = slot < -before ? Slot{kNothing, {}} : wanted(slot, pages, end);
    if (auto error = change(slot, to, pool, tripwire)) return *error;
  }
  for (const Interval& run : new_) {
    if (auto error = range_->allow_access(offset_of(run.first), (run.last - run.first + 1) * kPageBytes)) return *error;
  }

  CudaTensor tensor;
  tensor.data = device_pointer(range_->start() + static_cast<uint64_t>(offset_of(0)));
  tensor.mappings = range_->mappings();
  // One piece for each memory, at the first place where it is mapped.
  std::set<std::pair<Content, int64_t>> seen;
  const auto add = [&](Content content, int64_t page, int64_t count) {
    if (content == kNothing || !seen.emplace(content, count).second) return;
    const PieceKind kind = content == kTripwire  ? PieceKind::kTripwire
                           : content >= kOwnPage ? PieceKind::kOwn
                                                 : PieceKind::kFiller;
    tensor.pieces.push_back({page * page_elements(element_bytes), count * page_elements(element_bytes), kind});
    if (kind != PieceKind::kTripwire) tensor.physical_bytes += count * kPageBytes;
  };
  for (int64_t slot = -before; slot < end; ++slot) {
    const Content content = slots_[static_cast<size_t>(slots_before_ + slot)];
    const int64_t first = slot * kPeriodPages;
    if (content != kByPage) {
      add(content, first, kPeriodPages);
      continue;
    }
    const Pages& parts = by_page_.at(slot);
    for (int i = 0; i < kPeriodPages; ++i) add(parts[static_cast<size_t>(i)], first + i, 1);
  }
  return tensor;
}

}  // namespace brink
