#include "properties/simplicity.h"

#include <algorithm>

#include "kernels/execution/alias_period.h"

namespace brink {

int64_t oddness(int64_t size) {
  if (size < 1) return 0;
  int64_t power = 1;
  while (power <= size / 2) power *= 2;
  const int64_t above = size - power;
  const int64_t below = power - above;  // to 2 * power
  return std::min({above, below, kOddest});
}

Exact memory_of(const Case& c) {
  const int64_t numel = std::get<Decomposition>(decompose(c)).numel();
  const int64_t element = size_of(c.dtype);
  const Exact bytes = static_cast<Exact>(numel) * element;
  return bytes <= kPageBytes ? bytes : static_cast<Exact>(page_count(numel, element)) * kPageBytes;
}

std::vector<Exact> simplicity(const Case& c) {
  const auto shape = std::get<Decomposition>(decompose(c));
  Exact odd = 0;
  for (const int64_t size : c.shape) odd += oddness(size);
  std::vector<Exact> result = {memory_of(c), static_cast<Exact>(c.shape.size()), odd, shape.numel(), shape.dim_size};
  result.insert(result.end(), c.shape.begin(), c.shape.end());
  result.push_back(static_cast<Exact>(c.dtype));
  result.push_back(c.axis < 0 ? 1 : 0);
  result.push_back(c.family == FormFamily::kCoded ? 0 : 1 + static_cast<Exact>(c.family));
  result.push_back(-c.prime);
  result.push_back(c.memory == MemoryKind::kSparse ? 0 : c.memory == MemoryKind::kAliased ? 1 : 2);
  result.push_back(static_cast<Exact>(c.seed));
  return result;
}

Case with_decomposition(Case c, const Decomposition& shape) {
  c.shape.clear();
  c.axis = shape.outer_size == 1 ? 0 : 1;
  if (shape.outer_size != 1) c.shape.push_back(shape.outer_size);
  c.shape.push_back(shape.dim_size);
  if (shape.inner_size != 1) c.shape.push_back(shape.inner_size);
  return c;
}

std::vector<Case> simpler(const Case& c) {
  std::vector<Case> result;
  const auto simplicity_of_c = simplicity(c);
  const auto offer = [&](Case candidate) {
    if (!validate(candidate).empty() || simplicity(candidate) >= simplicity_of_c) return;
    if (std::find(result.begin(), result.end(), candidate) == result.end()) result.push_back(std::move(candidate));
  };
  offer(with_decomposition(c, std::get<Decomposition>(decompose(c))));
  const auto rank = static_cast<int64_t>(c.shape.size());
  for (int64_t dim = 0; dim < rank; ++dim) {
    const int64_t size = c.shape[static_cast<size_t>(dim)];
    const auto with_size = [&](int64_t smaller) {
      if (smaller < 1 || smaller >= size) return;
      Case candidate = c;
      candidate.shape[static_cast<size_t>(dim)] = smaller;
      offer(std::move(candidate));
    };
    with_size(1);
    with_size(size / 2);
    int64_t power = 1;
    while (power <= size / 2) power *= 2;
    for (const int64_t round : {power - 1, power, power + 1}) with_size(round);
    with_size(size - 1);
  }
  Case candidate = c;
  candidate.dtype = DType::kF16;
  offer(candidate);
  candidate = c;
  if (candidate.axis < 0) candidate.axis += std::max<int64_t>(rank, 1);
  offer(candidate);
  candidate = c;
  candidate.seed = 0;
  offer(candidate);
  return result;
}

}  // namespace brink
