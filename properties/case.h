#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "kernels/softmax/decomposition.h"
#include "kernels/softmax/implementation.h"
#include "properties/closed_form.h"
#include "properties/raw_observation.h"

namespace brink {

/// Everything that one execution needs. Its text form is a small JSON object, version 1; see case.cpp.
struct Case {
  Operation operation = Operation::kSoftmaxBackward;
  std::vector<int64_t> shape;
  int64_t axis = 0;
  DType dtype = DType::kF16;
  Implementation implementation;
  FormFamily family = FormFamily::kCoded;
  int prime = 7;
  MemoryKind memory = MemoryKind::kSparse;
  uint64_t seed = 0;  ///< chooses the extra places that a sparse run looks at

  bool operator==(const Case&) const = default;
};

constexpr std::string_view name_of(MemoryKind kind) {
  return kind == MemoryKind::kDense ? "dense" : kind == MemoryKind::kAliased ? "aliased" : "sparse";
}
std::optional<MemoryKind> parse_memory_kind(std::string_view name);

/// Decomposes the case's shape; the error is one line.
std::variant<Decomposition, std::string> decompose(const Case& c);

/// Why a case cannot be described at all (shape, axis, closed form), or an empty string.
std::string validate(const Case& c);

ClosedForm closed_form_of(const Case& c, const Decomposition& shape);

/// The case as JSON text with a newline at its end.
std::string to_text(const Case& c);

/// Reads a case; the error is one line that names the field.
std::variant<Case, std::string> parse_case(std::string_view text);

/// The command line that repeats the case, on `device` ("host" or "cuda").
std::string repeat_command(const Case& c, std::string_view device);

}  // namespace brink
