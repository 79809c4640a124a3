#include "properties/oracle.h"

#include <algorithm>

#include "kernels/softmax/spatial_address.h"
#include "properties/column_value.h"

namespace brink {

namespace {

// A run that leaves no result has no sets.
void settle(const Launching& launching, Prediction& prediction) {
  if (prediction.verdict != Verdict::kHang) {
    if (!prediction.out_of_bounds.empty()) {
      prediction.verdict = launching.memory == MemoryKind::kDense ? Verdict::kFault : Verdict::kOutOfBounds;
    } else {
      prediction.verdict = verdict_of_sets(prediction);
    }
  }
  if (prediction.verdict == Verdict::kHang || prediction.verdict == Verdict::kFault) {
    prediction.wrong.clear();
    prediction.never_written.clear();
    prediction.contended.clear();
    prediction.contended_values.clear();
    prediction.exact = true;
  }
  if (prediction.verdict == Verdict::kHang) prediction.out_of_bounds.clear();
}

}  // namespace

int64_t IterationSpace::wrap(int64_t l) const {
  Exact value = static_cast<Exact>(l) % modulus;
  if (value >= limit) value -= modulus;
  return static_cast<int64_t>(value);
}

IterationSpace iteration_space(const Launching& launching) {
  const IndexLimits limits = limits_of(launching.dispatch.index_type);
  IterationSpace space;
  space.modulus = static_cast<Exact>(1) << limits.bits;
  space.limit = static_cast<Exact>(limits.max) + 1;
  with_index_type(launching.dispatch.index_type, [&](auto index) {
    using I = decltype(index);
    const SpatialAddress<I> address(launching.shape);
    space.narrowed = {static_cast<int64_t>(address.outer_size), static_cast<int64_t>(address.dim_size),
                      static_cast<int64_t>(address.inner_size)};
  });
  const Decomposition& n = space.narrowed;
  if (n.outer_size <= 0 || n.dim_size <= 0 || n.inner_size <= 0) space.narrowed = {0, 0, 0};
  return space;
}

std::vector<uint64_t> candidate_values(const Launching& launching, int64_t n, int max_writers, int64_t max_column) {
  const IterationSpace space = iteration_space(launching);
  std::vector<uint64_t> result;
  if (space.narrowed.dim_size > max_column) return result;
  const Exact numel = space.narrowed.numel();
  if ((numel - 1 - n) / space.modulus >= max_writers) return result;
  for (Exact l = n; l < numel; l += space.modulus) {
    const Position at = position_of(space.narrowed, static_cast<int64_t>(l));
    result.push_back(column_value(launching.form, space.narrowed.dim_size, at.dim, [&](int64_t d) {
      return space.wrap(linear_index(space.narrowed, {at.outer, d, at.inner}));
    }));
  }
  return result;
}

Prediction predict(const Case& c, OccupancyQuery& occupancy, Engine engine) {
  const auto shape = std::get<Decomposition>(decompose(c));
  Prediction prediction;
  prediction.path = path_of(shape);
  if (shape.numel() == 0) {
    prediction.verdict = Verdict::kOk;
    prediction.reason = "the tensor is empty: nothing to launch";
    return prediction;
  }
  const auto decision = dispatch(c.implementation, shape, c.operation, c.dtype, occupancy);
  if (const auto* none = std::get_if<NoDispatch>(&decision)) {
    prediction.verdict = none->wrong_path ? Verdict::kNotExecuted : Verdict::kLaunchRejected;
    prediction.reason = none->reason;
    return prediction;
  }
  const Launching launching{shape,    c.operation,
                            c.dtype,  closed_form_of(c, shape),
                            c.memory, std::get<Dispatch>(decision)};
  prediction.variant = launching.dispatch.sized.variant;
  prediction.index_type = launching.dispatch.index_type;
  prediction.launch = launching.dispatch.sized.launch;
  if (engine == Engine::kTraced) {
    predict_traced(launching, prediction);
  } else {
    predict_symbolic(launching, prediction);
    if (engine == Engine::kAuto && !prediction.exact && can_trace(launching)) {
      prediction.out_of_bounds.clear();
      predict_traced(launching, prediction);
    }
  }
  settle(launching, prediction);
  return prediction;
}

}  // namespace brink
