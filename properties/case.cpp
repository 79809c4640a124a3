#include "properties/case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "kernels/index/checked.h"
#include "properties/json_text.h"

namespace brink {

using Json = nlohmann::ordered_json;

std::optional<MemoryKind> parse_memory_kind(std::string_view name) {
  for (const MemoryKind kind : {MemoryKind::kDense, MemoryKind::kAliased, MemoryKind::kSparse}) {
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

std::variant<Decomposition, std::string> decompose(const Case& c) { return decompose(c.shape, c.axis); }

std::string validate(const Case& c) {
  const auto shape = decompose(c);
  if (const auto* error = std::get_if<std::string>(&shape)) return *error;
  if (!checked_mul(std::get<Decomposition>(shape).numel(), size_of(c.dtype))) {
    return fmt::format("shape [{}] of {}: the number of bytes overflows int64", fmt::join(c.shape, ","),
                       name_of(c.dtype));
  }
  if (c.prime != 3 && c.prime != 5 && c.prime != 7) return fmt::format("prime {} is not one of 3, 5, 7", c.prime);
  if (c.family == FormFamily::kCodedOutput && c.operation != Operation::kLogSoftmaxBackward) {
    return fmt::format("closed form coded_output is for log_softmax_backward, not {}", name_of(c.operation));
  }
  return "";
}

ClosedForm closed_form_of(const Case& c, const Decomposition& shape) {
  return {c.operation, c.dtype, c.family, c.prime, shape};
}

std::string to_text(const Case& c) {
  Json j;
  j["brink_case"] = 1;
  j["operation"] = name_of(c.operation);
  j["shape"] = c.shape;
  j["axis"] = c.axis;
  j["dtype"] = name_of(c.dtype);
  j["implementation"] = c.implementation.name();
  j["closed_form"] = name_of(c.family);
  j["prime"] = c.prime;
  j["memory"] = name_of(c.memory);
  j["seed"] = c.seed;
  return j.dump() + "\n";
}

namespace {

// Reads one named value; throws the one-line message that parse_case returns.
template <class T, class Parse>
T named_value(const Json& j, const char* field, const Parse& parse) {
  const auto found = j.find(field);
  if (found == j.end()) throw std::string(fmt::format("field \"{}\" is missing", field));
  if (!found->is_string()) throw std::string(fmt::format("field \"{}\" is not a string", field));
  const auto value = parse(found->get<std::string>());
  if (!value) throw std::string(fmt::format("field \"{}\": unknown value {}", field, shown(*found)));
  return *value;
}

int64_t integer(const Json& value, const char* field) {
  // nlohmann turns an integer beyond 64 bits into a float: not an integer here either.
  if (!value.is_number_integer())
    throw std::string(fmt::format("field \"{}\": {} is not a 64-bit integer", field, shown(value)));
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) {
    throw std::string(fmt::format("field \"{}\": {} does not fit in int64", field, shown(value)));
  }
  return value.get<int64_t>();
}

int64_t integer_field(const Json& j, const char* field) {
  const auto found = j.find(field);
  if (found == j.end()) throw std::string(fmt::format("field \"{}\" is missing", field));
  return integer(*found, field);
}

Case read_case(const Json& j) {
  if (!j.is_object()) throw std::string("a case is a JSON object");
  if (const int64_t version = integer_field(j, "brink_case"); version != 1) {
    throw std::string(fmt::format("case version {} is not known; this brink reads version 1", version));
  }
  static constexpr std::string_view kFields[] = {"brink_case",     "operation",   "shape", "axis",   "dtype",
                                                 "implementation", "closed_form", "prime", "memory", "seed"};
  for (const auto& item : j.items()) {
    if (std::find(std::begin(kFields), std::end(kFields), item.key()) == std::end(kFields)) {
      throw std::string(fmt::format("field {} is not known", shown(item.key())));
    }
  }
  Case c;
  c.operation = named_value<Operation>(j, "operation", parse_operation);
  const auto shape = j.find("shape");
  if (shape == j.end() || !shape->is_array()) throw std::string("field \"shape\" must be an array of integers");
  for (const Json& size : *shape) c.shape.push_back(integer(size, "shape"));
  c.axis = integer_field(j, "axis");
  c.dtype = named_value<DType>(j, "dtype", parse_dtype);
  c.implementation = named_value<Implementation>(j, "implementation", parse_implementation);
  if (j.contains("closed_form")) c.family = named_value<FormFamily>(j, "closed_form", parse_form_family);
  if (j.contains("prime")) {
    const int64_t prime = integer_field(j, "prime");
    if (prime != 3 && prime != 5 && prime != 7) throw std::string(fmt::format("prime {} is not one of 3, 5, 7", prime));
    c.prime = static_cast<int>(prime);
  }
  if (j.contains("memory")) c.memory = named_value<MemoryKind>(j, "memory", parse_memory_kind);
  if (j.contains("seed")) {
    if (!j["seed"].is_number_unsigned()) throw std::string("field \"seed\" is not an unsigned 64-bit integer");
    c.seed = j["seed"].get<uint64_t>();
  }
  if (const std::string error = validate(c); !error.empty()) throw std::string(error);
  return c;
}

}  // namespace

std::variant<Case, std::string> parse_case(std::string_view text) { return parse_as<Case>(text, read_case); }

std::string repeat_command(const Case& c, std::string_view device) {
  return fmt::format(
      "brink run --op {} --shape {} --axis {} --dtype {} --impl {} --form {} --prime {} --memory {} --seed {} --device "
      "{}",
      name_of(c.operation), c.shape.empty() ? "scalar" : fmt::format("{}", fmt::join(c.shape, ",")), c.axis,
      name_of(c.dtype), c.implementation.name(), name_of(c.family), c.prime, name_of(c.memory), c.seed, device);
}

}  // namespace brink
