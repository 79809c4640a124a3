#include "properties/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "properties/generator.h"
#include "properties/windows.h"

namespace brink {

namespace {

constexpr int64_t kMax31 = limits_of(IndexType::kI32).max;
constexpr int64_t kMax32 = limits_of(IndexType::kU32).max;

constexpr Variant kVariants[] = {Variant::kWarp, Variant::kBlock, Variant::kColumns, Variant::kReduce};

std::vector<Place> places_of(OffsetRange range) {
  std::vector<Place> places = {Place::kStart};
  if (range != OffsetRange::kSigned) places.push_back(Place::k31Bit);
  if (range == OffsetRange::kAbove) places.push_back(Place::k32Bit);
  places.push_back(Place::kEnd);
  return places;
}

double rounded(DType dtype, double value) {
  return with_dtype(dtype, [&](auto element) {
    using Traits = ElementTraits<decltype(element)>;
    return static_cast<double>(Traits::load(Traits::store(static_cast<typename Traits::Acc>(value))));
  });
}

// The value that is compared, where it is known: as said, or, of softmax, what the elements of a row are on average.
std::optional<double> compared_value(const AuditedTest& test, const Decomposition& shape) {
  if (test.expected || test.compares_sum) return test.expected;
  if (test.known != Operation::kSoftmaxForward) return std::nullopt;
  return 1 / static_cast<double>(shape.dim_size);
}

// Why a wrong result could pass.
std::vector<std::string> weaknesses_of(const AuditedTest& test, const Decomposition& shape) {
  std::vector<std::string> lines;
  if (!test.says_compared || shape.numel() == 0) return lines;
  if (const auto value = compared_value(test, shape)) {
    const auto dtype = parse_dtype(test.dtype);
    if (dtype && rounded(*dtype, *value) == 0) {
      lines.push_back(
          fmt::format("cannot fail on value: {:.3g} is 0 in {}, whichever elements were read, and so may be "
                      "memory that was never written",
                      *value, test.dtype));
    } else if (std::abs(*value) <= test.tolerance) {
      lines.push_back(fmt::format("cannot fail on value: 0 is within {:.3g} of {:.3g}", test.tolerance, *value));
    }
  }
  const int64_t last = test.compares_sum ? shape.numel() - 1 : test.compared.back().last;
  for (const auto& [boundary, name] : {std::pair{kMax31, "2^31-1"}, {kMax32, "2^32-1"}}) {
    if (shape.numel() - 1 > boundary && last <= boundary) {
      lines.push_back(fmt::format("looks at no element beyond {}: the last that it compares is {} of {}", name, last,
                                  shape.numel()));
      break;
    }
  }
  if (test.compares_with_itself) {
    lines.push_back("compares the result with itself: what is wrong everywhere alike passes");
  }
  if (test.constant_inputs) {
    lines.push_back("all inputs are equal: an element read from a wrong place has the right value");
  }
  if (test.compares_sum) {
    lines.push_back(test.tolerance > 0 && test.expected && *test.expected != 0
                        ? fmt::format("compares one sum: up to {:.3g} of {} elements could be missing within {:.3g}",
                                      test.tolerance / std::abs(*test.expected) * static_cast<double>(shape.numel()),
                                      shape.numel(), test.tolerance)
                        : "compares one sum: elements that change places, and errors that cancel, pass");
  }
  return lines;
}

AuditedRow audited(const AuditedTest& test, const AuditOptions& options) {
  AuditedRow row;
  row.test = test;
  const auto shape = std::get<Decomposition>(decompose(test.shape, test.axis));
  row.numel = shape.numel();
  const int64_t last = row.numel - 1;
  row.elements = range_of_offset(last);
  row.narrowest = row.elements == OffsetRange::kSigned     ? IndexType::kI32
                  : row.elements == OffsetRange::kUnsigned ? IndexType::kU32
                                                           : IndexType::kI64;
  if (test.arrays > 0) row.bytes = range_of_offset(row.numel * test.item_bytes - 1);
  row.needs_bytes = test.guard.value_or(test.arrays * row.numel * test.item_bytes);
  row.runs = !options.device_memory || row.needs_bytes <= *options.device_memory;
  row.weaknesses = weaknesses_of(test, shape);
  if (!test.known || row.numel == 0) return row;
  row.shape = shape;
  Case c;
  c.operation = *test.known;
  c.shape = test.shape;
  c.axis = test.axis;
  c.dtype = *parse_dtype(test.dtype);
  c.implementation = options.implementation;
  c.memory = MemoryKind::kDense;
  const auto occupancy = model_of(Device::kCuda, c.implementation);
  const auto decision = dispatch(c.implementation, shape, c.operation, c.dtype, *occupancy);
  const auto* launched = std::get_if<Dispatch>(&decision);
  if (launched == nullptr) return row;
  row.launched = *launched;
  if (!row.runs) return row;
  Execution execution;
  execution.launched = *launched;
  execution.raw.ending = Ending::kCompleted;
  const bool whole = !test.says_compared || test.compares_sum;
  execution.raw.looked_at = whole ? std::vector<Interval>{{0, last}} : test.compared;
  row.cells = cells_reached(c, shape, execution);
  row.matrix = matrix_cells_reached(c, shape, execution);
  return row;
}

std::vector<AuditHole> holes_of(const std::vector<AuditedRow>& rows, const Implementation& implementation) {
  using Key = std::tuple<Variant, bool, OffsetRange>;
  std::map<Key, std::set<Place>> seen;
  bool any = false;
  for (const AuditedRow& row : rows) {
    any = any || row.test.known.has_value();
    for (const MatrixCell& cell : row.matrix) seen[{cell.variant, cell.backward, row.elements}].insert(cell.place);
  }
  std::vector<AuditHole> holes;
  if (!any) return holes;
  for (const Variant variant : kVariants) {
    const auto shapes = simplest_shapes(variant);
    if (implementation.path && path_of(std::get<Decomposition>(decompose(shapes[0]))) != *implementation.path) continue;
    for (const bool backward : {false, true}) {
      for (const OffsetRange range : kOffsetRanges) {
        AuditHole hole;
        hole.variant = variant;
        hole.backward = backward;
        hole.range = range;
        const auto& looked_at = seen[{variant, backward, range}];
        hole.reached = !looked_at.empty();
        for (const Place place : places_of(range)) {
          if (!looked_at.contains(place)) hole.places.push_back(place);
        }
        if (hole.places.empty()) continue;
        // A small one, then pairs of at and above a boundary: the smallest of each range.
        hole.closes = shapes[range == OffsetRange::kSigned ? 0 : range == OffsetRange::kUnsigned ? 2 : 4];
        hole.closes.operation = backward ? Operation::kSoftmaxBackward : Operation::kSoftmaxForward;
        hole.closes.implementation = implementation;
        holes.push_back(std::move(hole));
      }
    }
  }
  return holes;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string range_summary(OffsetRange largest) {
  return largest == OffsetRange::kSigned     ? "never above INT_MAX"
         : largest == OffsetRange::kUnsigned ? "above INT_MAX, never above UINT32_MAX"
                                             : "above UINT32_MAX";
}

}  // namespace

OffsetRange range_of_offset(int64_t last) {
  return last <= kMax31 ? OffsetRange::kSigned : last <= kMax32 ? OffsetRange::kUnsigned : OffsetRange::kAbove;
}

std::string_view name_of(OffsetRange range) {
  switch (range) {
    case OffsetRange::kSigned:
      return "at or below INT_MAX";
    case OffsetRange::kUnsigned:
      return "above INT_MAX";
    case OffsetRange::kAbove:
      break;
  }
  return "above UINT32_MAX";
}

std::string summary_of(const std::vector<const AuditedRow*>& rows) {
  std::set<Path> paths;
  OffsetRange elements = OffsetRange::kSigned;
  std::optional<OffsetRange> bytes;
  for (const AuditedRow* row : rows) {
    if (row->launched) paths.insert(row->launched->sized.path);
    elements = std::max(elements, row->elements);
    if (row->bytes) bytes = std::max(bytes.value_or(OffsetRange::kSigned), *row->bytes);
  }
  std::vector<std::string> parts;
  if (!paths.empty()) {
    const bool rows_path = paths.contains(Path::kLastDim);
    const bool columns_path = paths.contains(Path::kSpatial);
    parts.push_back(rows_path && columns_path ? "last_dim and spatial" : rows_path ? "last_dim only" : "spatial only");
    parts.push_back(rows_path && columns_path ? "inner_size 1 and above"
                    : rows_path               ? "inner_size 1"
                                              : "inner_size above 1");
    parts.push_back(range_summary(elements));
    if (!columns_path) parts.push_back("spatial never reached");
    if (!rows_path) parts.push_back("last_dim never reached");
    return joined(parts);
  }
  parts.push_back("no path of brink's");
  parts.push_back("elements " + range_summary(elements));
  parts.push_back(bytes ? "bytes " + range_summary(*bytes) : "no array in memory");
  return joined(parts);
}

Audit audit(const AuditFile& file, const AuditOptions& options) {
  Audit result;
  result.suite = file.suite;
  for (const AuditedTest& test : file.tests) result.rows.push_back(audited(test, options));
  result.holes = holes_of(result.rows, options.implementation);
  return result;
}

}  // namespace brink
