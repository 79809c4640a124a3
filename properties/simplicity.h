#pragma once

#include <vector>

#include "kernels/index/traced.h"
#include "properties/case.h"

// Which of two cases is the simpler one. Compared in this order, smaller is simpler:
//
//   1. memory: bytes of one tensor. What is larger than a page (2 MiB, a GPU's unit) counts in whole pages: 2^32 + 1
//      and 2^32 + 2 elements take the same memory, and [2, 2147483649] is easier to read than [641, 6700417].
//   2. rank
//   3. how the sizes are written: the sum of their oddness() below, so that a boundary stands there as itself
//   4. number of elements, dim_size, then the sizes from left to right
//   5. dtype, in the order f16, bf16, f32, f64; where f16 fails too, memory has chosen it already
//   6. an axis that is not negative, the closed form (coded first), its prime (7 first), the kind of memory (sparse,
//      aliased, dense), the seed

namespace brink {

/// How far a size is from a power of two (2147483649 is 1 away), at most kOddest: any other number.
inline constexpr int64_t kOddest = 9;
int64_t oddness(int64_t size);

/// Bytes of one tensor, in whole pages where it is larger than a page.
Exact memory_of(const Case& c);

/// The numbers that are compared; see above. `c` must be valid.
std::vector<Exact> simplicity(const Case& c);

/// `c` with another shape, in as few dimensions as `shape` needs.
Case with_decomposition(Case c, const Decomposition& shape);

/// Cases that are one step simpler, the boldest first: fewer dimensions, smaller or rounder sizes, dtype f16. Each
/// comes before `c` in the order of simplicity(), so shrinking ends.
std::vector<Case> simpler(const Case& c);

}  // namespace brink
