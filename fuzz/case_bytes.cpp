#include "fuzz/case_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace brink {

namespace {

constexpr size_t kAxisBytes = 4;
constexpr size_t kWordBytes = 8;

enum Field : size_t { kOperation, kDType, kImplementation, kForm, kPrime, kMemory };

std::string_view name_in(size_t field, const Case& c, std::string& buffer) {
  switch (field) {
    case kOperation:
      return name_of(c.operation);
    case kDType:
      return name_of(c.dtype);
    case kImplementation:
      return buffer = c.implementation.name();
    case kForm:
      return name_of(c.family);
    case kPrime:
      return buffer = std::to_string(c.prime);
    default:
      return name_of(c.memory);
  }
}

uint8_t number_in(size_t field, const Case& c) {
  std::string buffer;
  const std::string_view name = name_in(field, c, buffer);
  const Numbering& list = numbering()[field];
  const auto found = std::find(list.names.begin(), list.names.end(), name);
  if (found == list.names.end()) throw std::invalid_argument(fmt::format("{} {} has no number", list.field, name));
  return static_cast<uint8_t>(found - list.names.begin());
}

void append(std::vector<uint8_t>& bytes, uint64_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(value >> 8 * i));
}

// Takes up to `count` bytes from the front.
uint64_t take(std::span<const uint8_t>& bytes, size_t count) {
  uint64_t value = 0;
  count = std::min(count, bytes.size());
  for (size_t i = 0; i < count; ++i) value |= static_cast<uint64_t>(bytes[i]) << 8 * i;
  bytes = bytes.subspan(count);
  return value;
}

int64_t axes_of(const Case& c) { return std::max<int64_t>(1, static_cast<int64_t>(c.shape.size())); }

const std::vector<Implementation>& numbered_implementations() {
  static const std::vector<Implementation> implementations = [] {
    std::vector<Implementation> result;
    for (const std::string_view name : numbering()[kImplementation].names) {
      result.push_back(parse_implementation(name).value());
    }
    return result;
  }();
  return implementations;
}

}  // namespace

const std::vector<Numbering>& numbering() {
  static const std::vector<Numbering> lists = {
      {"operation", {"softmax_forward", "softmax_backward", "log_softmax_forward", "log_softmax_backward"}},
      {"dtype", {"f16", "bf16", "f32", "f64"}},
      {"implementation",
       {"dispatched",
        "numel_rule",
        "last_dim/u32",
        "last_dim/i32",
        "last_dim/i64",
        "spatial/u32",
        "spatial/i32",
        "spatial/i64",
        "dispatched/u32",
        "numel_rule/u32",
        "dispatched/u8",
        "dispatched/i8",
        "dispatched/u16",
        "dispatched/i16",
        "numel_rule/u8",
        "numel_rule/i8",
        "numel_rule/u16",
        "numel_rule/i16",
        "last_dim/u8",
        "last_dim/i8",
        "last_dim/u16",
        "last_dim/i16",
        "spatial/u8",
        "spatial/i8",
        "spatial/u16",
        "spatial/i16",
        "workspace",
        "last_dim/u32_pressure",
        "spatial/u32_pressure",
        "last_dim/i64_pressure",
        "spatial/i64_pressure",
        "last_dim/i64_ask_once",
        "spatial/i64_ask_once",
        "last_dim/i64_shrink_y_only",
        "spatial/i64_shrink_y_only",
        "last_dim/i64_stale_shared",
        "spatial/i64_stale_shared",
        "spatial/i64_torn_barrier",
        "no_launch"}},
      {"closed form", {"seed", "coded", "coded_output"}},
      {"prime", {"3", "5", "7"}},
      {"memory", {"dense", "aliased", "sparse"}},
  };
  return lists;
}

std::vector<uint8_t> encode(const Case& c) {
  std::vector<uint8_t> bytes;
  for (size_t field = 0; field < numbering().size(); ++field) bytes.push_back(number_in(field, c));
  append(bytes, static_cast<uint64_t>(c.axis + axes_of(c)), kAxisBytes);
  append(bytes, c.seed, kWordBytes);
  for (const int64_t size : c.shape) append(bytes, static_cast<uint64_t>(size), kWordBytes);
  return bytes;
}

Case decode(std::span<const uint8_t> bytes) {
  const auto number = [&](size_t field) {
    return static_cast<size_t>(take(bytes, 1)) % numbering()[field].names.size();
  };
  const auto name = [&](size_t field) { return numbering()[field].names[number(field)]; };
  Case c;
  c.operation = *parse_operation(name(kOperation));
  c.dtype = *parse_dtype(name(kDType));
  c.implementation = numbered_implementations()[number(kImplementation)];
  c.family = *parse_form_family(name(kForm));
  c.prime = name(kPrime)[0] - '0';
  c.memory = *parse_memory_kind(name(kMemory));
  const auto axis = static_cast<int64_t>(take(bytes, kAxisBytes));
  c.seed = take(bytes, kWordBytes);
  while (!bytes.empty()) c.shape.push_back(static_cast<int64_t>(take(bytes, kWordBytes)));
  c.axis = axis % (2 * axes_of(c)) - axes_of(c);
  return c;
}

}  // namespace brink
