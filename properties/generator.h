#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "properties/cell.h"

// Cases that aim at expressions: path, implementation, direction, expression, boundary and side are chosen first, then
// the sizes are solved for.

namespace brink {

/// A device as launch sizing sees it where there is none to ask: host_occupancy() or, for kCuda, that of the model
/// sm_90.
std::shared_ptr<OccupancyQuery> model_of(Device device, const Implementation& implementation);

/// True-width implementations, the scale models of `dispatched`, `spatial` and `last_dim`, and of those short of
/// registers the ones that each launch form takes: `..._pressure` and `..._ask_once`.
std::vector<Implementation> default_implementations();

struct GeneratorOptions {
  std::vector<Operation> operations{std::begin(kOperations), std::end(kOperations)};
  std::vector<Implementation> implementations = default_implementations();
  std::vector<DType> dtypes{std::begin(kDTypes), std::end(kDTypes)};
  Device device = Device::kHost;
  /// The device's own occupancy, or null: host_occupancy() and, for kCuda, that of the model sm_90.
  std::shared_ptr<OccupancyQuery> occupancy;
  /// Predict each case to choose the prime (and closed form) for which the symbolic answer is exact.
  bool exact_prime = true;
};

/// Element visits that a generated case costs on the host at most, as estimated beforehand.
inline constexpr int64_t kGeneratedWorkMax = int64_t{1} << 24;
/// Elements of a case generated for a GPU.
inline constexpr int64_t kGeneratedCudaNumelMax = int64_t{1} << 34;

/// Why a generated case leaves a launch alone: more than `device` takes within the limits above. Empty where it does
/// not.
std::string device_refusal(Device device, const Decomposition& shape, const SizedLaunch& sized, DType dtype,
                           IndexType index_type);

/// A sequence of 64-bit numbers that is the same on every machine (splitmix64).
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}
  uint64_t next();
  /// 0 .. n - 1; n > 0.
  int64_t below(int64_t n) {
    return static_cast<int64_t>(static_cast<unsigned __int128>(next()) * static_cast<uint64_t>(n) >> 64);
  }
  int64_t between(int64_t first, int64_t last) { return first + below(last - first + 1); }
  bool chance(int64_t percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& values) {
    return values[static_cast<size_t>(below(static_cast<int64_t>(values.size())))];
  }

 private:
  uint64_t state_;
};

/// What a boundary case aims at.
struct Target {
  Variant variant = Variant::kColumns;
  Implementation implementation;
  IndexType index_type = IndexType::kI64;
  Expression expression = Expression::kElementOffset;
  Boundary boundary = Boundary::k31Bit;
  Side side = Side::kAt;
  bool crossed = false;  ///< an element lies at the boundary, so that Location::kBoundary can be looked at
  bool backward = false;
  LaunchForm form = LaunchForm::kResident;

  bool operator==(const Target&) const = default;
  bool operator<(const Target& other) const;
};

/// Generates cases; making one solves for the reachable targets, which takes some tenths of a second.
class CaseGenerator {
 public:
  explicit CaseGenerator(const GeneratorOptions& options);
  ~CaseGenerator();
  CaseGenerator(const CaseGenerator&) = delete;
  CaseGenerator& operator=(const CaseGenerator&) = delete;

  /// One case: 60% at a boundary, 25% small shapes, 10% scale models at their boundary, 5% empty shapes.
  Case draw(Draws& draws) const;
  /// As generate_cases() below.
  std::vector<Case> generate(uint64_t seed, int count) const;
  /// Targets that have a case within the device's limits.
  const std::vector<Target>& targets() const;
  /// A case that hits `target`, which must be one of targets().
  Case at(const Target& target, Draws& draws) const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

/// RapidCheck generator of the same cases, each target as likely as any other of its path; shrinks by simpler().
rc::Gen<Case> boundary_case(const GeneratorOptions& options);

/// `count` cases: the same list for the same seed and options on every machine. Targets come in turn, in an order that
/// the seed shuffles; 30 cases of 100 take the next one of each path, so 10,000 cases reach every target of the default
/// options at least twice.
std::vector<Case> generate_cases(uint64_t seed, int count, const GeneratorOptions& options);

}  // namespace brink
