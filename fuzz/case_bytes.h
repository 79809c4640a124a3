#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "properties/case.h"

// The binary form of a case: what libFuzzer mutates and keeps in its corpus.
//
//   byte   0..5   operation, dtype, implementation, closed form, prime, memory: numbers in the lists of numbering()
//         6..9   axis + rank, little-endian
//        10..17  seed, little-endian
//        18..    the sizes of the shape, 8 bytes each, little-endian

namespace brink {

/// The names behind each numbered field, in the order of the bytes. A name's number never changes: new names are
/// appended.
struct Numbering {
  std::string_view field;
  std::vector<std::string_view> names;
};
const std::vector<Numbering>& numbering();

/// The case as bytes; throws std::invalid_argument for an implementation that has no number.
std::vector<uint8_t> encode(const Case& c);

/// The case that any bytes stand for, not always a valid one; decode(encode(c)) == c for every valid case. Missing
/// bytes are 0, numbers are taken modulo the length of their list, and the axis modulo what the rank allows.
Case decode(std::span<const uint8_t> bytes);

}  // namespace brink
