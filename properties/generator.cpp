#include "properties/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "kernels/execution/host_run.h"
#include "kernels/index/checked.h"
#include "kernels/softmax/device_model.h"
#include "properties/best_prime.h"
#include "properties/input_windows.h"
#include "properties/oracle.h"
#include "properties/simplicity.h"

namespace brink {

namespace {

// ---- What a device takes ----

constexpr Exact kNumelMax = static_cast<Exact>(1) << 62;
constexpr Exact kHostBytesMax = static_cast<Exact>(1) << 43;  // address space of one tensor, of 2^47 in all
constexpr Exact kHostWrapsMax = 8;                            // a sparse run follows this many wraps of its windows

// Element visits of a run on the host, about as execute_host.cpp counts them; the number of windows is a guess.
double host_work(const Decomposition& shape, const SizedLaunch& sized) {
  constexpr double kWindows = 20;
  constexpr double kWindowSize = 48;
  const Launch& launch = sized.launch;
  double columns = 0;
  double run = 0;  // neighbouring elements that one block visits
  if (sized.path == Path::kSpatial) {
    columns = static_cast<double>(ceil_div(shape.outer_size, launch.grid_x)) *
              static_cast<double>(ceil_div(shape.inner_size, launch.grid_y * launch.block_y) * launch.block_y);
    run = launch.block_y >= shape.inner_size
              ? static_cast<double>(shape.inner_size) * static_cast<double>(shape.dim_size)
              : static_cast<double>(launch.block_y);
  } else {
    columns = static_cast<double>(ceil_div(shape.outer_size, launch.grid_x * launch.block_y) * launch.block_y);
    run = static_cast<double>(launch.block_y) * static_cast<double>(shape.dim_size);
  }
  double blocks = static_cast<double>(launch.grid_x) * static_cast<double>(launch.grid_y);
  if (shape.numel() > kWholeMax) blocks = std::min(blocks, kWindows * (1 + kWindowSize / run) + 2);
  return blocks * columns * static_cast<double>(shape.dim_size) * 3;
}

// How many times over a loop runs because its counter wraps: 1 where it does not. A thread that goes on past `limit`
// steps counts as a hang, which ends the run with its block, so that costs little.
double repeats_of_loop(int64_t size, Exact step, IndexType index_type, int64_t limit) {
  constexpr int kSamples = 16;
  const IndexLimits limits = limits_of(index_type);
  if (limits.bits == 64 || static_cast<Exact>(size) - 1 + step <= limits.max) return 1;
  const Exact modulus = static_cast<Exact>(1) << limits.bits;
  const auto wrap = [&](Exact v) {
    v %= modulus;
    return v > limits.max ? v - (limits.is_signed ? modulus : 0) : v;
  };
  const Exact bound = wrap(size);
  const Exact stride = wrap(step);
  if (bound <= 0) return 1;
  const Exact first = std::clamp<Exact>(limits.max - stride + 1, 0, bound - 1);  // the first counter that wraps
  int64_t worst = 0;
  for (int i = 0; i <= kSamples; ++i) {
    int64_t steps = 0;
    for (Exact v = first + (bound - 1 - first) * i / kSamples; v < bound; v = wrap(v + stride + modulus)) {
      if (++steps > limit) return 1;
    }
    worst = std::max(worst, steps);
  }
  return 1 + static_cast<double>(worst) / (static_cast<double>(size) / static_cast<double>(step) + 1);
}

double repeats(const Decomposition& shape, const SizedLaunch& sized, IndexType index_type) {
  const Launch& launch = sized.launch;
  const int64_t limit = loop_limit(shape, launch, index_type);
  if (sized.path == Path::kLastDim) {
    return repeats_of_loop(shape.outer_size, static_cast<Exact>(launch.grid_x) * launch.block_y, index_type, limit);
  }
  return repeats_of_loop(shape.outer_size, launch.grid_x, index_type, limit) *
         repeats_of_loop(shape.inner_size, static_cast<Exact>(launch.grid_y) * launch.block_y, index_type, limit);
}

}  // namespace

std::string device_refusal(Device device, const Decomposition& shape, const SizedLaunch& sized, DType dtype,
                           IndexType index_type) {
  const Exact numel = shape.numel();
  if (device == Device::kCuda) {
    return numel <= kGeneratedCudaNumelMax ? "" : fmt::format("more than {} elements", kGeneratedCudaNumelMax);
  }
  if (numel * size_of(dtype) > kHostBytesMax) return "more address space than a tensor gets, 8 TiB";
  const int bits = limits_of(index_type).bits;
  if (bits == 32 && numel > kHostWrapsMax << bits) {
    return fmt::format("a sparse run follows {} wraps of a 32-bit index", static_cast<int>(kHostWrapsMax));
  }
  // A launch that is rejected runs no element. A helper that does not notice asks for a grid of no blocks.
  if (sized.form == LaunchForm::kRejected || sized.launch.grid_x == 0 || sized.launch.grid_y == 0) return "";
  const double work = host_work(shape, sized);
  if (work > static_cast<double>(kGeneratedWorkMax)) return fmt::format("about {:.0e} element visits", work);
  if (work * repeats(shape, sized, index_type) > static_cast<double>(kGeneratedWorkMax)) {
    return "a loop counter wraps and runs on for longer than the host waits";
  }
  return "";
}

namespace {

// ---- Solving for a size ----

struct Problem {
  Variant variant = Variant::kColumns;
  Expression expression = Expression::kElementOffset;
  Boundary boundary = Boundary::k31Bit;
  Side side = Side::kAt;
  LaunchForm form = LaunchForm::kResident;

  auto operator<=>(const Problem&) const = default;
};

// Kernels of which launch sizing is asked while a size is solved for. A rejected launch counts as the plain one that
// was wanted, whose first block does not fit where the kernel is short of registers.
struct SolvedKernels {
  KernelLimits limits;
  Build build = Build::kPlain;
  IndexType index_type = IndexType::kI64;
};

// What launch sizing can do with the blocks of a variant at all: a warp keeps its lanes, a block to a row has no y, and
// a column that a thread has alone no x.
constexpr bool can_have(Variant variant, LaunchForm form) {
  if (form == LaunchForm::kReducedY) return variant != Variant::kBlock;
  if (form == LaunchForm::kReducedX) return variant == Variant::kBlock || variant == Variant::kReduce;
  return true;
}

struct Range {
  Exact first = 0;
  Exact last = -1;
};

Range range_of(Boundary boundary, Side side) {
  const Exact at = value_of(boundary);
  const Exact reach = side_reach(boundary);
  if (side == Side::kAt) return {at, at};
  return side == Side::kBelow ? Range{at - reach, at - 1} : Range{at + 1, at + reach};
}

// A shape, and which of its sizes (0 outer, 1 dim, 2 inner) was solved for.
struct Solution {
  Decomposition shape;
  DType dtype = DType::kF16;
  int axis = 0;
};

class Solver {
 public:
  Solver(const SolvedKernels& kernels, OccupancyQuery& occupancy)
      : kernels_(kernels), limits_(kernels.limits), occupancy_(occupancy) {}

  std::optional<SizedLaunch> size(const Decomposition& shape, DType dtype) const {
    return size(shape, dtype, kernels_.build);
  }

  // Values that the size may take without leaving the variant; the other two sizes of `shape` are given.
  Range sizes(const Problem& problem, const Decomposition& shape, int axis, Exact numel_max) const {
    const Variant variant = problem.variant;
    const bool reduced_x = problem.form == LaunchForm::kReducedX;
    const bool reduced = problem.form != LaunchForm::kResident;  // only large blocks are, or are rejected
    const int64_t dim = shape.dim_size;
    const int64_t inner = shape.inner_size;
    Exact others = 1;
    for (int other = 0; other < 3; ++other) {
      if (other == axis) continue;
      Decomposition copy = shape;
      others *= size_at(copy, other);
    }
    Range range{1, numel_max / others};
    const auto at_least = [&](Exact v) { range.first = std::max(range.first, v); };
    const auto at_most = [&](Exact v) { range.last = std::min(range.last, v); };
    const auto require = [&](bool condition) {
      if (!condition) range.last = 0;
    };
    switch (variant) {
      case Variant::kWarp:
      case Variant::kBlock:
        require(axis != 2 && inner == 1);
        if (variant == Variant::kWarp) {
          axis == 1 ? at_most(limits_.warp_dim_max) : require(dim <= limits_.warp_dim_max);
        } else {
          axis == 1 ? at_least(limits_.warp_dim_max + 1) : require(dim > limits_.warp_dim_max);
          if (reduced && axis == 1) at_least(Exact{limits_.row_block_max} * kVectorMax);
        }
        break;
      case Variant::kColumns:
        if (axis == 1) {
          require(inner > 1);
          if (inner <= limits_.reduce_inner_max) at_most(limits_.reduce_dim_min - 1);
        } else if (axis == 2) {
          at_least(dim >= limits_.reduce_dim_min ? limits_.reduce_inner_max + 1 : 2);
          if (reduced) at_least(limits_.spatial_block_max);
        } else {
          require(inner > 1 && (inner > limits_.reduce_inner_max || dim < limits_.reduce_dim_min));
        }
        break;
      case Variant::kReduce:
        if (axis == 1) {
          require(inner > 1 && inner <= limits_.reduce_inner_max);
          at_least(reduced ? limits_.spatial_block_max : limits_.reduce_dim_min);
        } else if (axis == 2) {
          require(dim >= limits_.reduce_dim_min);
          // Two columns give a block as many threads in x as it can have: only then x shrinks, too.
          at_least(reduced && !reduced_x ? 3 : 2);
          at_most(reduced_x ? 2 : limits_.reduce_inner_max);
        } else {
          require(inner > 1 && inner <= limits_.reduce_inner_max && dim >= limits_.reduce_dim_min);
        }
        break;
    }
    return range;
  }

  std::optional<Exact> value(const Problem& problem, const Decomposition& shape, DType dtype) const {
    const auto sized = size(shape, dtype);
    if (!sized || sized->variant != problem.variant) return std::nullopt;
    if (problem.form == LaunchForm::kRejected) {
      const auto reduced = size(shape, dtype, Build::kPressure);
      if (!reduced || reduced->form == LaunchForm::kResident) return std::nullopt;
    } else if (sized->form != problem.form) {
      return std::nullopt;
    }
    return bounded_value(largest_values(shape, *sized, dtype), sized->launch, problem.expression, problem.boundary);
  }

  // The smallest (or largest) size on `axis` for which the value lies in `wanted`. No value falls by more than a
  // block's rounding where a size grows, so bisection finds it; what it finds is checked.
  std::optional<Decomposition> solve(const Problem& problem, const Range& wanted, Decomposition shape, DType dtype,
                                     int axis, Exact numel_max, bool largest = false) const {
    const Range range = sizes(problem, shape, axis, numel_max);
    if (range.first > range.last) return std::nullopt;
    const auto value_at = [&](Exact n) {
      size_at(shape, axis) = static_cast<int64_t>(n);
      return value(problem, shape, dtype);
    };
    const auto highest = value_at(range.last);
    if (!highest || *highest < wanted.first) return std::nullopt;
    const auto lowest = value_at(range.first);
    if (!lowest || *lowest > wanted.last) return std::nullopt;
    // Sizes up to `low` have values below the wanted ones (largest: up to them), sizes from `high` on do not.
    const auto is_low = [&](Exact v) { return largest ? v <= wanted.last : v < wanted.first; };
    Exact low = is_low(*lowest) ? range.first : range.first - 1;
    Exact high = is_low(*highest) ? range.last + 1 : range.last;
    // Most values are linear in the size, so a few steps of interpolation usually leave bisection nothing to do.
    const Exact aim = largest ? wanted.last : wanted.first - 1;
    Exact low_value = *lowest;
    Exact high_value = *highest;
    for (int steps = 0; high - low > 1; ++steps) {
      Exact middle = low + (high - low) / 2;
      if (steps < kInterpolations && high_value > low_value) {
        middle = low + (aim - low_value) * (high - low) / (high_value - low_value);
        middle = std::clamp<Exact>(middle, low + 1, high - 1);
      }
      const auto v = value_at(middle);
      if (!v) return std::nullopt;
      (is_low(*v) ? low : high) = middle;
      (is_low(*v) ? low_value : high_value) = *v;
    }
    const auto found = value_at(largest ? low : high);
    if (!found || *found < wanted.first || *found > wanted.last) return std::nullopt;
    return shape;
  }

 private:
  std::optional<SizedLaunch> size(const Decomposition& shape, DType dtype, Build build) const {
    return plan_launch({shape, Operation::kSoftmaxBackward, dtype, kernels_.index_type, kernels_.limits, build},
                       occupancy_)
        .launch;
  }

  static constexpr int kInterpolations = 8;
  static constexpr int64_t kVectorMax = 8;  // elements, of 2 bytes

  SolvedKernels kernels_;
  KernelLimits limits_;
  OccupancyQuery& occupancy_;
};

// Sizes that the other two axes take while one is solved for: small numbers, block sizes and their neighbours, powers
// of two (for values that are one below a power of two), and divisors of 2^32 - 1 and their successors (for products
// that have to be it; 2^31 - 1 is prime).
constexpr int64_t kSizes[] = {1,
                              2,
                              3,
                              4,
                              5,
                              6,
                              7,
                              15,
                              16,
                              17,
                              18,
                              32,
                              51,
                              52,
                              63,
                              64,
                              65,
                              85,
                              127,
                              128,
                              255,
                              257,
                              258,
                              1024,
                              1025,
                              1032,
                              1285,
                              4096,
                              4369,
                              21845,
                              65535,
                              65537,
                              65538,
                              100000,
                              1 << 20,
                              1 << 22,
                              1 << 25,
                              (1 << 26) + 64,
                              int64_t{1} << 31,
                              (int64_t{1} << 31) - 1};

// Offers every solution with the listed sizes, small ones first, until `take` returns false.
template <class Take>
void enumerate(const Solver& solver, const Problem& problem, const std::vector<DType>& dtypes, Exact numel_max,
               const Take& take) {
  const Range wanted = range_of(problem.boundary, problem.side);
  const bool row_path = problem.variant == Variant::kWarp || problem.variant == Variant::kBlock;
  // Elsewhere the element type changes nothing.
  const bool any_dtype = problem.variant != Variant::kBlock && problem.expression != Expression::kByteOffset;
  for (const DType dtype : dtypes) {
    if (any_dtype && dtype != dtypes.front()) break;
    for (const int64_t a : kSizes) {
      for (const int64_t b : kSizes) {
        for (int axis = 0; axis < (row_path ? 2 : 3); ++axis) {
          Decomposition shape{a, a, a};
          if (axis == 0) shape.inner_size = b;
          if (axis == 1) shape.inner_size = b;
          if (axis == 2) shape.dim_size = b;
          if (row_path) {
            if (b != 1) continue;
            shape.inner_size = 1;
          }
          const auto solved = solver.solve(problem, wanted, shape, dtype, axis, numel_max);
          if (!solved) continue;
          if (!take(Solution{*solved, dtype, axis})) return;
          // Where a range of sizes has the value, its other end may be the only one that suits the index type.
          const auto last = solver.solve(problem, wanted, shape, dtype, axis, numel_max, true);
          if (last && *last != *solved && !take(Solution{*last, dtype, axis})) return;
        }
      }
    }
  }
}

bool crosses(const Problem& problem, const Decomposition& shape, DType dtype) {
  const auto element = boundary_element(problem.expression, problem.boundary, dtype);
  return element && *element < shape.numel();
}

std::vector<Problem> problems_of(Variant variant, LaunchForm form) {
  const Implementation i64{WidthRule::kFixed, IndexType::kI64, Path::kSpatial};
  std::vector<Problem> problems;
  for (const Expression expression : expressions_of(variant)) {
    for (const Boundary boundary : boundaries_of(expression, variant, i64, IndexType::kI64)) {
      for (const Side side : {Side::kBelow, Side::kAt, Side::kAbove}) {
        problems.push_back({variant, expression, boundary, side, form});
      }
    }
  }
  return problems;
}

constexpr Variant kVariants[] = {Variant::kWarp, Variant::kBlock, Variant::kColumns, Variant::kReduce};

constexpr Path path_of_variant(Variant variant) {
  return variant == Variant::kWarp || variant == Variant::kBlock ? Path::kLastDim : Path::kSpatial;
}

// Solutions that the device takes with some index type, of all kinds that make a difference.
std::vector<Solution> solutions_of(const Solver& solver, const Problem& problem, const std::vector<DType>& dtypes,
                                   Device device) {
  constexpr int kOfEachKind = 12;
  constexpr int kTriedMax = 600;
  std::vector<Solution> result;
  std::array<int, 8> kinds{};
  int tried = 0;
  const Exact numel_max = device == Device::kHost ? kHostBytesMax / size_of(dtypes.front()) : kGeneratedCudaNumelMax;
  enumerate(solver, problem, dtypes, numel_max, [&](const Solution& solution) {
    const auto sized = solver.size(solution.shape, solution.dtype);
    if (sized && device_refusal(device, solution.shape, *sized, solution.dtype, IndexType::kI64).empty()) {
      const auto taken = [&](IndexType type) {
        return device_refusal(device, solution.shape, *sized, solution.dtype, type).empty();
      };
      int& kind = kinds[(crosses(problem, solution.shape, solution.dtype) ? 1u : 0u) +
                        (taken(IndexType::kI32) ? 2u : 0u) + (taken(IndexType::kU32) ? 4u : 0u)];
      if (++kind <= kOfEachKind) result.push_back(solution);
    }
    return ++tried < kTriedMax && std::any_of(kinds.begin(), kinds.end(), [&](int kind) { return kind < kOfEachKind; });
  });
  return result;
}

// ---- From sizes to a case ----

// Splits n into factors of which the product is n; as many as `parts`, where n has enough small prime factors.
std::vector<int64_t> factors_of(int64_t n, int64_t parts, Draws& draws) {
  static const std::vector<int64_t> kPrimes = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
  std::vector<int64_t> result;
  while (static_cast<int64_t>(result.size()) + 1 < parts) {
    int64_t factor = 1;
    for (int64_t more = draws.between(1, 6); more > 0; --more) {
      const int64_t prime = draws.pick(kPrimes);
      if (n % prime != 0) continue;
      factor *= prime;
      n /= prime;
    }
    result.push_back(factor);
  }
  result.insert(result.begin() + draws.below(static_cast<int64_t>(result.size()) + 1), n);
  return result;
}

// A shape of 1 to 6 dimensions with this decomposition. Factors of 1 are dimensions of size 1.
void lay_out(const Decomposition& shape, Draws& draws, Case& c) {
  const int64_t outer_min = shape.outer_size > 1 ? 1 : 0;
  const int64_t inner_min = shape.inner_size > 1 ? 1 : 0;
  int64_t spare = draws.below(6 - outer_min - inner_min);
  if (draws.chance(50)) spare = std::min<int64_t>(spare, 1);
  const int64_t more_outer = draws.between(0, spare);
  c.shape.clear();
  const auto append = [&](int64_t n, int64_t parts) {
    if (parts == 0) return;
    for (const int64_t factor : factors_of(n, parts, draws)) c.shape.push_back(factor);
  };
  append(shape.outer_size, outer_min + more_outer);
  c.axis = static_cast<int64_t>(c.shape.size());
  c.shape.push_back(shape.dim_size);
  append(shape.inner_size, inner_min + spare - more_outer);
  if (draws.chance(20)) c.axis -= static_cast<int64_t>(c.shape.size());
}

// The implementations short of registers that stand for a launch form: reduced, rejected.
bool takes_part(const Implementation& implementation) {
  return implementation.build == Build::kPressure &&
         (implementation.helper == LaunchHelper::kChecked || implementation.helper == LaunchHelper::kAskOnce);
}

// The launch forms that an implementation is taken for: a plain kernel's is always resident on the devices here.
std::vector<LaunchForm> forms_of(const Implementation& implementation) {
  if (implementation.build == Build::kPlain) return {LaunchForm::kResident};
  if (implementation.helper != LaunchHelper::kChecked) return {LaunchForm::kRejected};
  return {LaunchForm::kReducedY, LaunchForm::kReducedX};
}

SolvedKernels solved_kernels(const Implementation& implementation, LaunchForm form) {
  SolvedKernels kernels{implementation.kernel_limits()};
  if (form != LaunchForm::kReducedY && form != LaunchForm::kReducedX) return kernels;
  kernels.build = implementation.build;
  kernels.index_type = implementation.index_type;
  return kernels;
}

bool takes_path(const Implementation& implementation, Path path) {
  return !implementation.path || *implementation.path == path;
}

}  // namespace

std::vector<Implementation> default_implementations() {
  std::vector<Implementation> result;
  for (const Implementation& implementation : all_implementations()) {
    // These take memory that a run has to be asked for, or run nothing.
    if (implementation.rule == WidthRule::kWorkspace || implementation.rule == WidthRule::kNoLaunch) continue;
    const bool unusual = implementation.rule == WidthRule::kNumel || implementation.index_type == IndexType::kI64;
    if (implementation.build != Build::kPlain && !takes_part(implementation)) continue;
    if (!implementation.scaled() || !unusual) result.push_back(implementation);
  }
  return result;
}

uint64_t Draws::next() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

bool Target::operator<(const Target& other) const {
  const auto key = [](const Target& t) {
    return std::make_tuple(t.variant, t.implementation.rule, t.implementation.index_type, t.implementation.path,
                           t.implementation.build, t.implementation.helper, t.index_type, t.expression, t.boundary,
                           t.side, t.crossed, t.backward, t.form);
  };
  return key(*this) < key(other);
}

std::shared_ptr<OccupancyQuery> model_of(Device device, const Implementation& implementation) {
  if (device == Device::kCuda) return std::make_shared<DeviceModel>(h200_model());
  return std::make_shared<FixedOccupancy>(host_occupancy(implementation));
}

struct CaseGenerator::Plan {
  GeneratorOptions options;
  std::shared_ptr<OccupancyQuery> real;    // for true-width implementations
  std::shared_ptr<OccupancyQuery> scaled;  // for scale models
  std::vector<Target> targets;
  std::map<Target, std::vector<Solution>> solutions;
  std::array<std::vector<Target>, 2> by_path;

  OccupancyQuery& occupancy(const Implementation& implementation) const {
    return implementation.scaled() ? *scaled : *real;
  }

  explicit Plan(const GeneratorOptions& o) : options(o) {
    const bool host = options.device == Device::kHost;
    if (options.occupancy) {
      real = scaled = options.occupancy;
    } else {
      real = scaled = model_of(options.device, Implementation());
      if (host) scaled = std::make_shared<FixedOccupancy>(kScaledResidentBlocks);
    }
    for (const Variant variant : kVariants) {
      if (!wanted_path(path_of_variant(variant))) continue;
      std::map<std::tuple<Problem, Build, IndexType>, std::vector<Solution>> solved;
      for (const Implementation& implementation : options.implementations) {
        if (implementation.scaled() || !takes_path(implementation, path_of_variant(variant))) continue;
        for (const LaunchForm form : forms_of(implementation)) {
          if (!can_have(variant, form)) continue;
          const SolvedKernels kernels = solved_kernels(implementation, form);
          const Solver solver(kernels, *real);
          for (const Problem& problem : problems_of(variant, form)) {
            auto [found, is_new] = solved.try_emplace({problem, kernels.build, kernels.index_type});
            if (is_new) found->second = solutions_of(solver, problem, options.dtypes, options.device);
            add_targets(implementation, problem, found->second);
          }
        }
      }
    }
    for (auto& [target, list] : solutions) {
      targets.push_back(target);
      by_path[path_of_variant(target.variant) == Path::kSpatial ? 1 : 0].push_back(target);
    }
  }

  // Whether a true-width implementation takes the path: only they have solved targets.
  bool wanted_path(Path path) const {
    return std::any_of(options.implementations.begin(), options.implementations.end(),
                       [&](const Implementation& i) { return !i.scaled() && takes_path(i, path); });
  }

  void add_targets(const Implementation& implementation, const Problem& problem, const std::vector<Solution>& solved) {
    for (const Solution& solution : solved) {
      for (const bool backward : {false, true}) {
        const auto operation = any_operation(backward);
        if (!operation) continue;
        const auto index_type = hits(implementation, problem, solution.shape, solution.dtype, *operation);
        if (!index_type) continue;
        Target target{problem.variant, implementation, *index_type, problem.expression, problem.boundary,
                      problem.side,    false,          backward,    problem.form};
        target.crossed = crosses(problem, solution.shape, solution.dtype);
        solutions[target].push_back(solution);
      }
    }
  }

  std::optional<Operation> any_operation(bool backward) const {
    for (const Operation operation : options.operations) {
      if (is_forward(operation) != backward) return operation;
    }
    return std::nullopt;
  }

  // The index type that the implementation really takes for the shape, where that launch lies at the problem's boundary
  // and the device takes it.
  std::optional<IndexType> hits(const Implementation& implementation, const Problem& problem,
                                const Decomposition& shape, DType dtype, Operation operation) const {
    const auto launch = counted_launch(implementation, shape, operation, dtype, occupancy(implementation));
    if (!launch || launch->sized.variant != problem.variant || launch->sized.form != problem.form) return std::nullopt;
    const auto boundaries = boundaries_of(problem.expression, problem.variant, implementation, launch->index_type);
    if (std::find(boundaries.begin(), boundaries.end(), problem.boundary) == boundaries.end()) return std::nullopt;
    if (!device_refusal(options.device, shape, launch->sized, dtype, launch->index_type).empty()) return std::nullopt;
    const auto value = bounded_value(largest_values(shape, launch->sized, dtype), launch->sized.launch,
                                     problem.expression, problem.boundary);
    if (!value || side_of(*value, problem.boundary) != problem.side) return std::nullopt;
    return launch->index_type;
  }

  Operation operation_of(bool backward, Draws& draws) const {
    std::vector<Operation> possible;
    for (const Operation operation : options.operations) {
      if (is_forward(operation) != backward) possible.push_back(operation);
    }
    return draws.pick(possible);
  }

  // Neighbours of a stored solution: the other sizes and the value aimed at are drawn anew.
  std::optional<Solution> vary(const Target& target, const Problem& problem, const Solution& from, Operation operation,
                               Draws& draws) const {
    const Solver solver(solved_kernels(target.implementation, target.form), occupancy(target.implementation));
    Solution to = from;
    to.dtype = draws.pick(options.dtypes);
    for (int axis = 0; axis < 3; ++axis) {
      int64_t& size = size_at(to.shape, axis);
      if (axis == from.axis || size == 1) continue;
      if (draws.chance(60))
        size = std::max<int64_t>(1, size + draws.between(-std::min<int64_t>(size / 2, 40), size / 2));
    }
    Range wanted = range_of(problem.boundary, problem.side);
    if (problem.side != Side::kAt) {
      // Close by more often than not: half of the draws lie within 16.
      const int64_t reach = draws.chance(50) ? 16 : side_reach(problem.boundary);
      const Exact aim = value_of(problem.boundary) + (problem.side == Side::kAbove ? 1 : -1) * draws.between(1, reach);
      wanted = {problem.side == Side::kAbove ? std::max(wanted.first, aim - 8) : aim,
                problem.side == Side::kAbove ? wanted.last : std::min(wanted.last, aim + reach)};
    }
    const auto solved = solver.solve(problem, wanted, to.shape, to.dtype, to.axis, kHostBytesMax);
    if (!solved) return std::nullopt;
    to.shape = *solved;
    if (crosses(problem, to.shape, to.dtype) != target.crossed) return std::nullopt;
    if (hits(target.implementation, problem, to.shape, to.dtype, operation) != target.index_type) return std::nullopt;
    return to;
  }

  Case boundary(const Target& target, Draws& draws) const {
    const Problem problem{target.variant, target.expression, target.boundary, target.side, target.form};
    const Operation operation = operation_of(target.backward, draws);
    const Solution& stored = draws.pick(solutions.at(target));
    Solution solution = stored;
    for (int tries = 0; tries < 2; ++tries) {
      if (const auto varied = vary(target, problem, stored, operation, draws)) {
        solution = *varied;
        break;
      }
    }
    return finish(target.implementation, solution.shape, solution.dtype, operation, draws);
  }

  Case finish(const Implementation& implementation, const Decomposition& shape, DType dtype, Operation operation,
              Draws& draws) const {
    Case c;
    c.implementation = implementation;
    c.operation = operation;
    c.dtype = dtype;
    lay_out(shape, draws, c);
    complete(c, draws);
    return c;
  }

  // Memory, seed, closed form and prime.
  void complete(Case& c, Draws& draws) const {
    c.memory = options.device == Device::kHost ? MemoryKind::kSparse : MemoryKind::kAliased;
    c.seed = draws.next();
    const int64_t form = draws.below(8);
    const auto shape = std::get<Decomposition>(decompose(c));
    if (c.memory == MemoryKind::kAliased && shape.numel() > 0 && !aliased_refusal(closed_form_of(c, shape)).empty()) {
      c.family = FormFamily::kSeed;
    }
    if (form == 0) c.family = FormFamily::kSeed;
    if (form <= 2 && c.operation == Operation::kLogSoftmaxBackward) c.family = FormFamily::kCodedOutput;
    if (!options.exact_prime) return;
    if (c.family != FormFamily::kCoded) {
      // The other families have fewer cases in which the oracle can be sure.
      FixedOccupancy occupancy = host_occupancy(c.implementation);
      if (predict(c, occupancy, Engine::kSymbolic).exact) return;
      c.family = FormFamily::kCoded;
      if (c.memory == MemoryKind::kAliased && !aliased_refusal(closed_form_of(c, shape)).empty()) {
        c.family = FormFamily::kSeed;
      }
    }
    choose_prime(c);
  }

  // An implementation that takes the path, if there is one; scale models only where asked for.
  std::optional<Implementation> implementation_for(Path path, bool scale_model, Draws& draws) const {
    std::vector<Implementation> possible;
    for (const Implementation& i : options.implementations) {
      if (takes_path(i, path) && (!scale_model || i.scaled())) possible.push_back(i);
    }
    if (possible.empty()) return std::nullopt;
    return draws.pick(possible);
  }

  Path draw_path(bool scale_model, Draws& draws) const {
    const Path path = draws.chance(50) ? Path::kSpatial : Path::kLastDim;
    Draws unused(0);
    if (implementation_for(path, scale_model, unused)) return path;
    return path == Path::kSpatial ? Path::kLastDim : Path::kSpatial;
  }

  Case small(Draws& draws) const {
    const Path path = draw_path(false, draws);
    int64_t left = int64_t{1} << 14;
    const auto draw_size = [&] {
      const int64_t size = draws.between(1, std::min<int64_t>(left, 40));
      left /= size;
      return size;
    };
    const auto rank = path == Path::kSpatial ? draws.between(2, 6) : draws.between(1, 6);
    Case c;
    c.axis = path == Path::kSpatial ? draws.below(rank - 1) : rank - 1;
    int64_t inner = 1;
    c.shape.resize(static_cast<size_t>(rank));
    for (int64_t dim = rank - 1; dim >= 0; --dim) {
      int64_t size = draw_size();
      if (dim == c.axis + 1 && inner == 1 && size == 1) size = 2;
      if (dim > c.axis) inner *= size;
      c.shape[static_cast<size_t>(dim)] = size;
    }
    if (path == Path::kLastDim && rank < 6 && draws.chance(20)) c.shape.push_back(1);
    return with_shape(std::move(c), path, draws);
  }

  Case empty(Draws& draws) const {
    Case c = small(draws);
    c.shape[static_cast<size_t>(draws.below(static_cast<int64_t>(c.shape.size())))] = 0;
    const Path path = path_of(std::get<Decomposition>(decompose(c)));
    return with_shape(std::move(c), path, draws);
  }

  Case with_shape(Case c, Path path, Draws& draws) const {
    c.family = FormFamily::kCoded;
    c.prime = 7;
    const auto implementation = implementation_for(path, false, draws);
    c.implementation = implementation ? *implementation : draws.pick(options.implementations);
    c.operation = draws.pick(options.operations);
    c.dtype = draws.pick(options.dtypes);
    if (c.axis >= 0 && draws.chance(20)) c.axis -= static_cast<int64_t>(c.shape.size());
    complete(c, draws);
    return c;
  }

  Case scale_model(Draws& draws) const {
    constexpr int kTries = 12;
    for (int tries = 0; tries < kTries; ++tries) {
      const Path path = draw_path(true, draws);
      const auto implementation = implementation_for(path, true, draws);
      if (!implementation) break;
      const Variant variant = path == Path::kSpatial ? (draws.chance(50) ? Variant::kColumns : Variant::kReduce)
                                                     : (draws.chance(50) ? Variant::kWarp : Variant::kBlock);
      const Expression expression = draws.pick(expressions_of(variant));
      const auto boundaries = boundaries_of(expression, variant, *implementation, implementation->index_type);
      if (boundaries.empty()) continue;
      const Side side = std::array{Side::kBelow, Side::kAt, Side::kAbove}[static_cast<size_t>(draws.below(3))];
      const Problem problem{variant, expression, boundaries.front(), side};
      const DType dtype = draws.pick(options.dtypes);
      const auto any_size = [&] {
        return int64_t{1} + static_cast<int64_t>(draws.next() >> 32) % (int64_t{1} << draws.between(0, 8));
      };
      Decomposition shape{any_size(), any_size(), path == Path::kSpatial ? 1 + any_size() : 1};
      const auto axis = static_cast<int>(draws.below(path == Path::kSpatial ? 3 : 2));
      const Solver solver({KernelLimits::scaled()}, *scaled);
      Range wanted = range_of(problem.boundary, problem.side);
      if (side != Side::kAt) wanted.first += draws.below(static_cast<int64_t>(wanted.last - wanted.first) + 1);
      const auto solved = solver.solve(problem, wanted, shape, dtype, axis, kWholeMax);
      if (!solved) continue;
      return finish(*implementation, *solved, dtype, draws.pick(options.operations), draws);
    }
    return small(draws);
  }

  // `next_target` gives the target of a boundary case on a path.
  template <class NextTarget>
  Case any(Draws& draws, const NextTarget& next_target) const {
    const int64_t kind = draws.below(100);
    if (kind < 60 && !targets.empty()) {
      size_t path = draws.chance(50) ? 1 : 0;
      if (by_path[path].empty()) path = 1 - path;
      return boundary(next_target(path), draws);
    }
    if (kind < 85) return small(draws);
    if (kind < 90) return empty(draws);
    return scale_model(draws);
  }
};

CaseGenerator::CaseGenerator(const GeneratorOptions& options) : plan_(std::make_unique<Plan>(options)) {}
CaseGenerator::~CaseGenerator() = default;

const std::vector<Target>& CaseGenerator::targets() const { return plan_->targets; }

Case CaseGenerator::at(const Target& target, Draws& draws) const { return plan_->boundary(target, draws); }

Case CaseGenerator::draw(Draws& draws) const {
  return plan_->any(draws, [&](size_t path) -> const Target& { return draws.pick(plan_->by_path[path]); });
}

std::vector<Case> CaseGenerator::generate(uint64_t seed, int count) const {
  Draws draws(seed);
  auto order = plan_->by_path;
  for (auto& targets : order) {
    for (size_t i = targets.size(); i > 1; --i) {
      std::swap(targets[i - 1], targets[static_cast<size_t>(draws.below(static_cast<int64_t>(i)))]);
    }
  }
  std::array<size_t, 2> turn{};
  std::vector<Case> cases;
  cases.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    // A stream for each case: how many numbers one case draws does not change the next.
    Draws own(draws.next());
    cases.push_back(
        plan_->any(own, [&](size_t path) -> const Target& { return order[path][turn[path]++ % order[path].size()]; }));
  }
  return cases;
}

std::vector<Case> generate_cases(uint64_t seed, int count, const GeneratorOptions& options) {
  return CaseGenerator(options).generate(seed, count);
}

rc::Gen<Case> boundary_case(const GeneratorOptions& options) {
  const auto generator = std::make_shared<const CaseGenerator>(options);
  return [generator](const rc::Random& random, int /*size*/) {
    rc::Random source(random);
    Draws draws(source.next());
    return rc::shrinkable::shrinkRecur(generator->draw(draws),
                                       [](const Case& c) { return rc::seq::fromContainer(simpler(c)); });
  };
}

// ---- Cells ----

namespace {

// Says why no case that the device takes reaches a cell; `crossed`: an element has to lie at the boundary.
std::string why_unreachable(const Solver& solver, const Problem& problem, Device device, IndexType index_type,
                            bool crossed) {
  const bool grid_limit = problem.boundary == Boundary::kGridXMax || problem.boundary == Boundary::kGridYMax;
  if (grid_limit && problem.side == Side::kAbove) return "impossible: launch sizing stays within the launch limit";
  std::optional<Solution> found;
  bool any = false;
  enumerate(solver, problem, {std::begin(kDTypes), std::end(kDTypes)}, kNumelMax, [&](const Solution& solution) {
    any = true;
    if (crossed && !crosses(problem, solution.shape, solution.dtype)) return true;
    if (!found || solution.shape.numel() < found->shape.numel()) found = solution;
    return true;
  });
  if (found) {
    const Decomposition& shape = found->shape;
    const auto sized = solver.size(shape, found->dtype);
    return fmt::format("beyond this device: the smallest shape tried, [{}, {}, {}] in {}, has {} elements: {}",
                       shape.outer_size, shape.dim_size, shape.inner_size, name_of(found->dtype), shape.numel(),
                       device_refusal(device, shape, *sized, found->dtype, index_type));
  }
  if (any) return "impossible: the tensor ends before the boundary where the expression has this value";
  if (grid_limit) return "beyond this device: launch sizing asks for no more blocks than are resident";
  if (problem.expression == Expression::kInnerStart && problem.variant == Variant::kColumns) {
    const KernelLimits limits = KernelLimits::real();
    return fmt::format("impossible: at most {} blocks of {} columns are launched", limits.grid_y_max,
                       limits.spatial_block_max);
  }
  // The variant bounds some expressions by itself: look at it with each size as large as the others let it be.
  Exact largest = 0;
  for (const int64_t inner : {int64_t{1}, int64_t{2}, int64_t{64}, int64_t{65}, int64_t{1} << 50}) {
    for (const int64_t dim : {int64_t{1}, int64_t{63}, int64_t{64}, int64_t{1024}, int64_t{1025}, int64_t{1} << 50}) {
      const Exact slice = static_cast<Exact>(dim) * inner;
      if (slice > kNumelMax) continue;
      for (const Exact outer : {Exact{1}, kNumelMax / slice}) {
        const auto value = solver.value(problem, {static_cast<int64_t>(outer), dim, inner}, DType::kF16);
        if (value) largest = std::max(largest, *value);
      }
    }
  }
  if (largest < range_of(problem.boundary, problem.side).first) {
    return fmt::format("impossible: at most {} in a {} launch", static_cast<int64_t>(largest),
                       name_of(problem.variant));
  }
  if (problem.side != Side::kAt) return "not found: no shape tried has this value";
  switch (problem.expression) {
    case Expression::kByteOffset:
      return "impossible: the offset is a multiple of the element size, the boundary is odd";
    case Expression::kVectorOffset:
      return "impossible: the largest value is a multiple of the vector size, the boundary is odd";
    case Expression::kElementOffset:
      return "impossible: a tensor that ends there ends with a whole vector, which its first element addresses";
    case Expression::kInnerNext:
    case Expression::kGridX:
      return "impossible: the value is a multiple of block.y, which is even, the boundary is odd";
    default:
      break;
  }
  if (problem.boundary == Boundary::k31Bit) return "impossible: a product of sizes above 1, the boundary is prime";
  return "not found: no shape tried has this value";
}

// Says why a launch form is not reached, whatever the shape.
std::string why_not_in_form(Variant variant, IndexType index_type, LaunchForm form) {
  if (!can_have(variant, form)) {
    return fmt::format("impossible: {} is 1 in the first block of a {} launch or does not shrink",
                       form == LaunchForm::kReducedY ? "block.y" : "block.x", name_of(variant));
  }
  if (variant == Variant::kWarp) {
    return "beyond this device: a block of 128 threads fits, however many registers a thread takes";
  }
  if (form == LaunchForm::kRejected) {
    return index_type == IndexType::kI64 ? "beyond this device: every first block of such a launch fits"
                                         : "beyond this device: only the 64-bit kernels have a helper that asks once";
  }
  if (index_type == IndexType::kI32) return "beyond this device: no i32 kernel is short of registers";
  return fmt::format("beyond this device: no shape tried has this value in a launch that is {}", name_of(form));
}

}  // namespace

std::vector<CellStatus> all_cells(Device device) {
  GeneratorOptions options;
  options.device = device;
  options.exact_prime = false;
  options.implementations.clear();
  for (const Implementation& implementation : all_implementations()) {
    if (implementation.scaled() || implementation.rule != WidthRule::kFixed) continue;
    if (implementation.build == Build::kPlain || takes_part(implementation)) {
      options.implementations.push_back(implementation);
    }
  }
  const CaseGenerator generator(options);
  std::map<Target, bool> reached;
  for (const Target& target : generator.targets()) reached[target] = true;
  const std::shared_ptr<OccupancyQuery> occupancy = model_of(device, Implementation());
  const Solver solver({KernelLimits::real()}, *occupancy);
  std::map<std::tuple<Problem, bool, bool>, std::string> reasons;
  std::vector<CellStatus> result;
  for (const Implementation& plain : options.implementations) {
    if (plain.build != Build::kPlain) continue;
    for (const Variant variant : kVariants) {
      if (path_of_variant(variant) != *plain.path) continue;
      for (const Problem& problem : problems_of(variant, LaunchForm::kResident)) {
        const auto boundaries = boundaries_of(problem.expression, variant, plain, plain.index_type);
        if (std::find(boundaries.begin(), boundaries.end(), problem.boundary) == boundaries.end()) continue;
        for (const bool backward : {false, true}) {
          for (const Location location : {Location::kStart, Location::kBoundary, Location::kEnd}) {
            const bool needs_crossing = location == Location::kBoundary;
            if (needs_crossing && !boundary_element(problem.expression, problem.boundary, DType::kF16)) continue;
            const auto add = [&](LaunchForm form) -> CellStatus& {
              CellStatus& status = result.emplace_back();
              status.cell = {*plain.path,  variant,  backward, plain.index_type, problem.expression, problem.boundary,
                             problem.side, location, form};
              for (const Implementation& implementation : options.implementations) {
                if (implementation.path != plain.path || implementation.index_type != plain.index_type) continue;
                Target target{variant,
                              implementation,
                              plain.index_type,
                              problem.expression,
                              problem.boundary,
                              problem.side,
                              true,
                              backward,
                              form};
                if (!needs_crossing && !reached.contains(target)) target.crossed = false;
                if (status.witness || !reached.contains(target)) continue;
                Draws draws(0);
                status.witness = generator.at(target, draws);
              }
              return status;
            };
            CellStatus& resident = add(LaunchForm::kResident);
            if (!resident.witness) {
              auto [reason, is_new] =
                  reasons.try_emplace({problem, needs_crossing, limits_of(plain.index_type).bits == 32});
              if (is_new) reason->second = why_unreachable(solver, problem, device, plain.index_type, needs_crossing);
              resident.reason = reason->second;
            }
            for (const LaunchForm form : {LaunchForm::kReducedY, LaunchForm::kReducedX, LaunchForm::kRejected}) {
              CellStatus& status = add(form);
              if (!status.witness) status.reason = why_not_in_form(variant, plain.index_type, form);
            }
          }
        }
      }
    }
  }
  std::sort(result.begin(), result.end(), [](const CellStatus& a, const CellStatus& b) { return a.cell < b.cell; });
  return result;
}

}  // namespace brink
