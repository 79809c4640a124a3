#include "fuzz/case_mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "kernels/index/checked.h"
#include "kernels/softmax/device_model.h"
#include "properties/input_windows.h"

namespace brink {

namespace {

constexpr size_t kRankMax = 8;
constexpr int64_t kSizeMax = int64_t{1} << 43;

int64_t axis_of(const Case& c) { return c.axis < 0 ? c.axis + static_cast<int64_t>(c.shape.size()) : c.axis; }

template <class T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Takes the value where it is allowed; otherwise one that `choice` picks, so that different inputs stay different.
template <class T>
void confine(T& value, const std::vector<T>& allowed, size_t choice) {
  if (!contains(allowed, value)) value = allowed[choice % allowed.size()];
}

size_t place_of(const Implementation& implementation) {
  static const std::vector<Implementation> all = all_implementations();
  return static_cast<size_t>(std::find(all.begin(), all.end(), implementation) - all.begin());
}

// ---- The step that matters: one size moves until an expression lies at its boundary ----

struct Aim {
  Variant variant = Variant::kColumns;
  Expression expression = Expression::kElementOffset;
  Boundary boundary = Boundary::k31Bit;
};

// The expression's largest value where dimension `dim` has the size n; nothing for another kernel.
std::optional<Exact> value_at(Case& c, size_t dim, int64_t n, const Aim& aim, const MutationLimits& limits) {
  c.shape[dim] = n;
  const auto shape = decompose(c);
  if (!std::holds_alternative<Decomposition>(shape)) return std::nullopt;
  const auto decision = dispatch_within(c, limits);
  const auto* launch = std::get_if<Dispatch>(&decision);
  if (launch == nullptr || launch->sized.variant != aim.variant) return std::nullopt;
  return bounded_value(largest_values(std::get<Decomposition>(shape), launch->sized, c.dtype), launch->sized.launch,
                       aim.expression, aim.boundary);
}

// The smallest size of dimension `dim` for which the value is at least `wanted`; c.shape[dim] must have a value. No
// value falls by more than a block's rounding where a size grows.
std::optional<int64_t> solve(Case c, size_t dim, const Aim& aim, Exact wanted, const MutationLimits& limits) {
  const int64_t start = c.shape[dim];
  const auto at = [&](int64_t n) { return value_at(c, dim, n, aim, limits); };
  const auto value = at(start);
  if (!value) return std::nullopt;
  // Brackets the place: `low` has a smaller value (or is 0), `high` none smaller.
  int64_t low = *value < wanted ? start : 0;
  int64_t high = *value < wanted ? 0 : start;
  while (high == 0) {
    const int64_t next = low <= kSizeMax / 2 ? low * 2 : kSizeMax;
    if (next == low) return std::nullopt;
    const auto v = at(next);
    if (!v) {
      // The kernel or the device ends between here and there; the value may still be reached before that.
      int64_t last = low;
      for (int64_t end = next; end - last > 1;) {
        const int64_t middle = last + (end - last) / 2;
        (at(middle) ? last : end) = middle;
      }
      if (const auto at_last = at(last); !at_last || *at_last < wanted) return std::nullopt;
      high = last;
    } else if (*v >= wanted) {
      high = next;
    } else {
      low = next;
    }
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    const auto v = at(middle);
    (v && *v >= wanted ? high : low) = middle;
  }
  return high;
}

bool to_boundary(Case& c, Draws& draws, const MutationLimits& limits) {
  const auto shape = decompose(c);
  if (!std::holds_alternative<Decomposition>(shape) || std::get<Decomposition>(shape).numel() == 0) return false;
  if (c.shape.empty()) return false;
  const auto decision = dispatch_within(c, limits);
  const auto* launch = std::get_if<Dispatch>(&decision);
  if (launch == nullptr) return false;
  Aim aim;
  aim.variant = launch->sized.variant;
  aim.expression = draws.pick(expressions_of(aim.variant));
  const auto boundaries = boundaries_of(aim.expression, aim.variant, c.implementation, launch->index_type);
  if (boundaries.empty()) return false;
  aim.boundary = draws.pick(boundaries);
  const auto dim = static_cast<size_t>(draws.below(static_cast<int64_t>(c.shape.size())));
  const int64_t side = draws.below(3);
  const auto size = solve(c, dim, aim, static_cast<Exact>(value_of(aim.boundary)) + (side == 2 ? 1 : 0), limits);
  if (!size) return false;
  // Below: the largest size whose value does not reach the boundary. Now and then a little further away.
  const int64_t further = draws.chance(75) ? 0 : draws.below(16);
  c.shape[dim] = std::max<int64_t>(1, side == 0 ? *size - 1 - further : *size + (side == 2 ? further : 0));
  return true;
}

// ---- Steps on the shape ----

size_t any_dim(const Case& c, Draws& draws) {
  return static_cast<size_t>(draws.below(static_cast<int64_t>(c.shape.size())));
}

bool nudge(Case& c, Draws& draws) {
  if (c.shape.empty()) return false;
  int64_t& size = c.shape[any_dim(c, draws)];
  switch (draws.below(4)) {
    case 0:
      size = draws.chance(50) ? size * 2 : size / 2;
      break;
    case 1:
      size = draws.between(1, 4);
      break;
    default:
      size += (draws.chance(50) ? 1 : -1) * draws.between(1, draws.chance(70) ? 1 : 64);
      break;
  }
  return size >= 0;
}

// Kernels, too, change at certain sizes.
bool to_launch_limit(Case& c, Draws& draws) {
  if (c.shape.empty()) return false;
  const KernelLimits limits = c.implementation.kernel_limits();
  const std::vector<int64_t> sizes = {limits.warp_size,         limits.warp_dim_max,     limits.row_block_max,
                                      limits.spatial_block_max, limits.reduce_inner_max, limits.reduce_dim_min};
  c.shape[any_dim(c, draws)] = draws.pick(sizes) + draws.between(-1, 1);
  return true;
}

bool swap_dims(Case& c, Draws& draws) {
  if (c.shape.size() < 2) return false;
  const size_t i = any_dim(c, draws);
  const size_t j = any_dim(c, draws);
  std::swap(c.shape[i], c.shape[j]);
  // The other kind of swap: the shape stays and the axis moves.
  if (i == j) c.axis = draws.below(static_cast<int64_t>(c.shape.size()));
  return true;
}

// A divisor of n, or 1.
int64_t divisor_of(int64_t n, Draws& draws) {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries && n > 1; ++i) {
    const int64_t factor = draws.between(2, draws.chance(70) ? 17 : 1024);
    if (n % factor == 0) return factor;
  }
  return 1;
}

bool split(Case& c, Draws& draws) {
  if (c.shape.empty() || c.shape.size() >= kRankMax) return false;
  const size_t i = any_dim(c, draws);
  const auto at = static_cast<int64_t>(i);
  const int64_t axis = axis_of(c);
  const int64_t factor = divisor_of(c.shape[i], draws);
  c.shape[i] /= factor;
  // In front of the dimension; the axis keeps one of the two parts.
  c.shape.insert(c.shape.begin() + at, factor);
  c.axis = axis > at || (axis == at && draws.chance(50)) ? axis + 1 : axis;
  return true;
}

bool merge(Case& c, Draws& draws) {
  if (c.shape.size() < 2) return false;
  const auto i = static_cast<size_t>(draws.below(static_cast<int64_t>(c.shape.size()) - 1));
  const auto product = checked_mul(c.shape[i], c.shape[i + 1]);
  if (!product) return false;
  const int64_t axis = axis_of(c);
  c.shape[i] = *product;
  c.shape.erase(c.shape.begin() + static_cast<int64_t>(i) + 1);
  c.axis = axis > static_cast<int64_t>(i) ? axis - 1 : axis;
  return true;
}

bool move_factor(Case& c, Draws& draws) {
  if (c.shape.size() < 2) return false;
  const size_t from = any_dim(c, draws);
  const size_t to = any_dim(c, draws);
  if (from == to) return false;
  const int64_t factor = divisor_of(c.shape[from], draws);
  const auto product = checked_mul(c.shape[to], factor);
  if (!product) return false;
  c.shape[from] /= factor;
  c.shape[to] = *product;
  return true;
}

// Gives a fixed-width kernel the path that it implements: a dimension behind the axis, or none.
void fit_path(Case& c, Draws& draws) {
  const auto shape = decompose(c);
  if (!c.implementation.path || !std::holds_alternative<Decomposition>(shape)) return;
  if (path_of(std::get<Decomposition>(shape)) == *c.implementation.path) return;
  const int64_t axis = axis_of(c);
  if (*c.implementation.path == Path::kLastDim) {
    c.axis = static_cast<int64_t>(c.shape.size()) - 1;
  } else if (axis > 0 && c.shape[static_cast<size_t>(axis) - 1] > 1 && draws.chance(50)) {
    c.axis = axis - 1;
  } else {
    if (c.shape.empty()) c.shape.push_back(1);
    c.axis = axis;
    c.shape.push_back(draws.between(2, 5));
  }
}

// ---- All steps ----

bool step(Case& c, Draws& draws, const MutationLimits& limits) {
  const int64_t kind = draws.below(100);
  if (kind < 50) return to_boundary(c, draws, limits);
  if (kind < 58) return nudge(c, draws);
  if (kind < 65) return to_launch_limit(c, draws);
  if (kind < 70) return swap_dims(c, draws);
  if (kind < 75) return split(c, draws);
  if (kind < 79) return merge(c, draws);
  if (kind < 84) return move_factor(c, draws);
  if (kind < 88) {
    c.operation = draws.pick(limits.operations);
    if (c.operation != Operation::kLogSoftmaxBackward && c.family == FormFamily::kCodedOutput) {
      c.family = FormFamily::kCoded;
    }
  } else if (kind < 92) {
    c.implementation = draws.pick(limits.implementations);
    fit_path(c, draws);
  } else if (kind < 95) {
    c.dtype = draws.pick(limits.dtypes);
  } else if (kind < 97) {
    c.prime = std::array{3, 5, 7}[static_cast<size_t>(draws.below(3))];
    c.family = draws.chance(70)                                                    ? FormFamily::kCoded
               : c.operation == Operation::kLogSoftmaxBackward && draws.chance(50) ? FormFamily::kCodedOutput
                                                                                   : FormFamily::kSeed;
  } else if (kind < 99) {
    c.seed = draws.next();
  } else {
    c.memory = draws.pick(limits.memories);
  }
  return true;
}

Case small_case(const Case& like, Draws& draws, const MutationLimits& limits) {
  Case c = confined(like, limits);
  c.shape = {draws.between(1, 4), draws.between(1, 4), draws.between(2, 4)};
  c.axis = 1;
  c.family = FormFamily::kCoded;
  c.prime = 7;
  fit_path(c, draws);
  return c;
}

}  // namespace

std::variant<Dispatch, NoDispatch> dispatch_within(const Case& c, const MutationLimits& limits) {
  const auto shape = std::get<Decomposition>(decompose(c));
  if (limits.device == Device::kHost) {
    FixedOccupancy host = host_occupancy(c.implementation);
    return dispatch(c.implementation, shape, c.operation, c.dtype, host);
  }
  if (limits.occupancy) return dispatch(c.implementation, shape, c.operation, c.dtype, *limits.occupancy);
  DeviceModel model = h200_model();
  return dispatch(c.implementation, shape, c.operation, c.dtype, model);
}

std::string refusal_of(const Case& c, const MutationLimits& limits) {
  if (std::string error = validate(c); !error.empty()) return error;
  if (!contains(limits.operations, c.operation)) return fmt::format("operation {}", name_of(c.operation));
  if (!contains(limits.implementations, c.implementation))
    return fmt::format("implementation {}", c.implementation.name());
  if (!contains(limits.dtypes, c.dtype)) return fmt::format("dtype {}", name_of(c.dtype));
  if (!contains(limits.memories, c.memory)) return fmt::format("memory {}", name_of(c.memory));
  const auto shape = std::get<Decomposition>(decompose(c));
  if (shape.numel() == 0) return "";
  const auto decision = dispatch_within(c, limits);
  if (const auto* none = std::get_if<NoDispatch>(&decision)) return none->reason;
  const auto& launch = std::get<Dispatch>(decision);
  if (c.memory == MemoryKind::kAliased) {
    if (std::string reason = aliased_refusal(closed_form_of(c, shape)); !reason.empty()) return reason;
  }
  // On the host, memory that is not sparse is filled and run whole.
  constexpr int64_t kVisits = 4;
  if (limits.device == Device::kHost && c.memory != MemoryKind::kSparse &&
      shape.numel() > kGeneratedWorkMax / kVisits) {
    return fmt::format("{} elements of {} memory on the host", shape.numel(), name_of(c.memory));
  }
  return device_refusal(limits.device, shape, launch.sized, c.dtype, launch.index_type);
}

Case confined(const Case& c, const MutationLimits& limits) {
  Case result = c;
  confine(result.operation, limits.operations, static_cast<size_t>(c.operation));
  confine(result.implementation, limits.implementations, place_of(c.implementation));
  confine(result.dtype, limits.dtypes, static_cast<size_t>(c.dtype));
  confine(result.memory, limits.memories, static_cast<size_t>(c.memory));
  if (result.operation != Operation::kLogSoftmaxBackward && result.family == FormFamily::kCodedOutput) {
    result.family = FormFamily::kCoded;
  }
  return result;
}

Case mutate(const Case& c, Draws& draws, const MutationLimits& limits) {
  constexpr int kTries = 24;
  const Case start = confined(c, limits);
  if (!refusal_of(start, limits).empty()) return small_case(c, draws, limits);
  for (int tries = 0; tries < kTries; ++tries) {
    Case candidate = start;
    bool changed = step(candidate, draws, limits);
    while (draws.chance(25)) changed = step(candidate, draws, limits) || changed;
    if (changed && candidate != start && refusal_of(candidate, limits).empty()) return candidate;
  }
  return small_case(c, draws, limits);
}

Case crossover(const Case& a, const Case& b, Draws& draws, const MutationLimits& limits) {
  constexpr int kTries = 8;
  for (int tries = 0; tries < kTries; ++tries) {
    Case c = draws.chance(50) ? a : b;
    const Case& other = draws.chance(50) ? a : b;
    if (draws.chance(50)) c.operation = other.operation;
    if (draws.chance(50)) c.implementation = other.implementation;
    if (draws.chance(50)) c.dtype = other.dtype;
    if (draws.chance(50)) c.memory = other.memory;
    // The front of one shape and the back of the other.
    if (!a.shape.empty() && !b.shape.empty() && draws.chance(70)) {
      const auto front = static_cast<int64_t>(any_dim(a, draws)) + 1;
      const auto back = static_cast<int64_t>(any_dim(b, draws));
      c.shape.assign(a.shape.begin(), a.shape.begin() + front);
      c.shape.insert(c.shape.end(), b.shape.begin() + back, b.shape.end());
      if (c.shape.size() > kRankMax) continue;
      c.axis = draws.below(static_cast<int64_t>(c.shape.size()));
    }
    c = confined(c, limits);
    fit_path(c, draws);
    if (c != a && c != b && refusal_of(c, limits).empty()) return c;
  }
  return mutate(a, draws, limits);
}

}  // namespace brink
