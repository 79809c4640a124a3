#include <fmt/format.h>

#include <algorithm>

#include "fuzz/boundary_counters.h"
#include "fuzz/case_bytes.h"
#include "fuzz/case_mutation.h"
#include "tests/mutants/checks.h"

namespace brink {

std::string bytes_are_the_case() {
  Draws draws(41);
  const std::vector<Implementation> implementations = all_implementations();
  for (int i = 0; i < 300; ++i) {
    Case c;
    c.operation = kOperations[draws.below(4)];
    c.dtype = kDTypes[draws.below(4)];
    c.implementation = draws.pick(implementations);
    c.seed = draws.next();
    for (int64_t rank = draws.below(7); rank > 0; --rank) c.shape.push_back(draws.between(0, int64_t{1} << 62));
    const auto axes = std::max<int64_t>(1, static_cast<int64_t>(c.shape.size()));
    c.axis = draws.between(-axes, axes - 1);
    if (decode(encode(c)) != c) return "other bytes: " + to_text(c);
  }
  return "";
}

std::string mutations_cross_boundaries_within_their_limits() {
  MutationLimits limits;
  limits.implementations = {*parse_implementation("spatial/u32")};
  limits.operations = {Operation::kSoftmaxBackward};
  limits.dtypes = {DType::kF32};
  Draws draws(42);
  Case c;
  bool below = false;
  bool above = false;
  for (int i = 0; i < 4000; ++i) {
    c = mutate(c, draws, limits);
    const auto fail = [&](std::string_view what) { return fmt::format("{}: {}", repeat_command(c, "host"), what); };
    if (c.implementation != limits.implementations[0] || c.operation != limits.operations[0] ||
        c.dtype != DType::kF32 || c.memory != MemoryKind::kSparse) {
      return fail("not what was asked for");
    }
    if (const std::string error = validate(c); !error.empty()) return fail(error);
    const auto shape = std::get<Decomposition>(decompose(c));
    if (shape.numel() == 0) continue;
    FixedOccupancy occupancy = host_occupancy(c.implementation);
    const auto decision = dispatch(c.implementation, shape, c.operation, c.dtype, occupancy);
    const auto* launch = std::get_if<Dispatch>(&decision);
    if (launch == nullptr) return fail("nothing is launched");
    if (const std::string reason = device_refusal(Device::kHost, shape, launch->sized, c.dtype, launch->index_type);
        !reason.empty()) {
      return fail(reason);
    }
    const Exact offset = *largest_values(shape, launch->sized, c.dtype)[Expression::kElementOffset];
    const Exact distance = offset - value_of(Boundary::k32Bit);
    below = below || (distance < 0 && distance > -64);
    above = above || (distance > 0 && distance < 64);
  }
  return below && above ? "" : "no shape on both sides of 2^32-1";
}

std::string counters_tell_the_sides_of_a_boundary_apart() {
  for (const Boundary boundary : {Boundary::k31Bit, Boundary::k32Bit, Boundary::kGridYMax, Boundary::kI8Max}) {
    const Exact at = value_of(boundary);
    std::vector<size_t> buckets;
    for (const int distance : {-40, -2, -1, 0, 1, 2, 40}) buckets.push_back(distance_bucket(at + distance, boundary));
    std::sort(buckets.begin(), buckets.end());
    if (std::adjacent_find(buckets.begin(), buckets.end()) != buckets.end()) {
      return fmt::format("{}: two distances in one bucket", name_of(boundary));
    }
  }
  Case c;
  c.shape = {1, 2, int64_t{1} << 31};
  c.axis = 1;
  c.implementation = *parse_implementation("spatial/u32");
  const auto counters = [&] {
    const auto shape = std::get<Decomposition>(decompose(c));
    FixedOccupancy occupancy = host_occupancy(c.implementation);
    const auto decision = dispatch(c.implementation, shape, c.operation, c.dtype, occupancy);
    return distance_counters(c, shape, std::get<Dispatch>(decision));
  };
  const auto backward = counters();
  if (backward.size() < 10) return "expressions without counters";
  c.operation = Operation::kSoftmaxForward;
  const auto forward = counters();
  std::vector<size_t> both;
  std::set_intersection(backward.begin(), backward.end(), forward.begin(), forward.end(), std::back_inserter(both));
  return both.empty() ? "" : "the two directions count alike";
}

}  // namespace brink
