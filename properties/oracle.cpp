#include "properties/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/replicas/torn_barrier.h"
#include "kernels/softmax/spatial_address.h"

namespace brink {

namespace {

// A run that leaves no result has no sets.
void settle(const Launching& launching, Prediction& prediction) {
  const bool dense = launching.memory == MemoryKind::kDense;
  if (dense && prediction.verdict == Verdict::kHang && !prediction.out_of_bounds.empty()) {
    prediction.verdict = Verdict::kFault;
  }
  if (prediction.verdict != Verdict::kHang && prediction.verdict != Verdict::kFault) {
    if (!prediction.out_of_bounds.empty()) {
      prediction.verdict = dense ? Verdict::kFault : Verdict::kOutOfBounds;
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
  if (modulus > std::numeric_limits<int64_t>::max()) return l;  // 64-bit indices hold every element index
  const int64_t value = l & static_cast<int64_t>(modulus - 1);
  return value >= limit ? value - static_cast<int64_t>(modulus) : value;
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

std::vector<uint64_t> WriterValues::of(int64_t n) {
  const Decomposition& narrowed = space_.narrowed;
  std::vector<uint64_t> result;
  if (narrowed.dim_size > max_column_ || (narrowed.numel() - 1 - n) / space_.modulus >= max_writers_) return result;
  for (Exact l = n; l < narrowed.numel(); l += space_.modulus) {
    const Position at = position_of(narrowed, static_cast<int64_t>(l));
    std::vector<uint64_t>& column = columns_[{at.outer, at.inner}];
    if (column.empty()) {
      column = column_values(
          launching_.form, narrowed.dim_size,
          [&](int64_t d) {
            return space_.wrap(linear_index(narrowed, {at.outer, d, at.inner}));
          },
          input_);
    }
    result.push_back(column[static_cast<size_t>(at.dim)]);
  }
  return result;
}

std::optional<Dispatch> planned_launch(const Prediction& p) {
  if (!p.launch) return std::nullopt;
  return Dispatch{*p.index_type, {p.path, *p.variant, *p.launch, p.launch_form}};
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
  const Launching launching{
      shape, c.operation, c.dtype, closed_form_of(c, shape), c.memory, std::get<Dispatch>(decision)};
  prediction.variant = launching.dispatch.sized.variant;
  prediction.index_type = launching.dispatch.index_type;
  prediction.launch = launching.dispatch.sized.launch;
  prediction.launch_form = launching.dispatch.sized.form;
  if (c.implementation.helper != LaunchHelper::kChecked) {
    const KernelId kernel = kernel_of(c.implementation, c.operation, c.dtype, launching.dispatch);
    if (prediction.reason = launch_refusal(kernel, *prediction.launch, occupancy); !prediction.reason.empty()) {
      prediction.verdict = Verdict::kLaunchRejected;
      return prediction;
    }
  }
  if (c.implementation.build == Build::kTornBarrier &&
      tears_a_barrier(shape, *prediction.variant, *prediction.launch)) {
    prediction.verdict = Verdict::kFault;
    prediction.reason = fmt::format("barrier divergence: {} columns are no multiple of block.y {}", shape.inner_size,
                                    prediction.launch->block_y);
    return prediction;
  }
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
