#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

namespace brink {

/// The integer type that a kernel computes its offsets in. The 8- and 16-bit ones are scale models of the 32-bit ones.
enum class IndexType { kU8, kI8, kU16, kI16, kU32, kI32, kI64 };

inline constexpr IndexType kIndexTypes[] = {IndexType::kU8,  IndexType::kI8,  IndexType::kU16, IndexType::kI16,
                                            IndexType::kU32, IndexType::kI32, IndexType::kI64};

/// Width, sign and largest value of an index type; `max` fits in int64_t for each of them.
struct IndexLimits {
  int bits;
  bool is_signed;
  int64_t max;
};

constexpr IndexLimits limits_of(IndexType type) {
  switch (type) {
    case IndexType::kU8:
      return {8, false, 0xff};
    case IndexType::kI8:
      return {8, true, 0x7f};
    case IndexType::kU16:
      return {16, false, 0xffff};
    case IndexType::kI16:
      return {16, true, 0x7fff};
    case IndexType::kU32:
      return {32, false, 0xffffffff};
    case IndexType::kI32:
      return {32, true, 0x7fffffff};
    case IndexType::kI64:
      break;
  }
  return {64, true, std::numeric_limits<int64_t>::max()};
}

constexpr std::string_view name_of(IndexType type) {
  switch (type) {
    case IndexType::kU8:
      return "u8";
    case IndexType::kI8:
      return "i8";
    case IndexType::kU16:
      return "u16";
    case IndexType::kI16:
      return "i16";
    case IndexType::kU32:
      return "u32";
    case IndexType::kI32:
      return "i32";
    case IndexType::kI64:
      break;
  }
  return "i64";
}

constexpr std::optional<IndexType> parse_index_type(std::string_view name) {
  for (const IndexType type : kIndexTypes) {
    if (name_of(type) == name) return type;
  }
  return std::nullopt;
}

/// Calls `f` with a value of the C++ type that `type` names.
template <class F>
decltype(auto) with_index_type(IndexType type, F&& f) {
  switch (type) {
    case IndexType::kU8:
      return f(uint8_t{});
    case IndexType::kI8:
      return f(int8_t{});
    case IndexType::kU16:
      return f(uint16_t{});
    case IndexType::kI16:
      return f(int16_t{});
    case IndexType::kU32:
      return f(uint32_t{});
    case IndexType::kI32:
      return f(int32_t{});
    case IndexType::kI64:
      break;
  }
  return f(int64_t{});
}

}  // namespace brink
