#include "properties/execute_cuda.h"

#include <fmt/format.h>

#include "kernels/execution/cuda/cuda_device.h"
#include "kernels/replicas/no_launch.h"
#include "kernels/replicas/workspace.h"
#include "properties/cuda_run.h"
#include "properties/input_windows.h"

namespace brink {

Execution execute_on_cuda(const Case& c, const std::vector<Interval>& windows, const OnLaunch& on_launch) {
  Execution execution;
  RawObservation& raw = execution.raw;
  if (const auto reason = cuda_unavailable()) {
    raw.reason = *reason;
    return execution;
  }
  if (c.implementation.scaled()) {
    raw.reason = fmt::format("{} is a scale model: it runs on the host", c.implementation.name());
    return execution;
  }
  if (c.implementation.build == Build::kTornBarrier) {
    raw.reason =
        fmt::format("{} runs on the host: what a GPU makes of a torn barrier is undefined", c.implementation.name());
    return execution;
  }
  const auto shape = std::get<Decomposition>(decompose(c));
  const ClosedForm form = closed_form_of(c, shape);
  if (c.memory == MemoryKind::kSparse) {
    raw.reason = "sparse memory is the host's; a GPU has aliased and dense";
    return execution;
  }
  if (c.memory == MemoryKind::kAliased) {
    if (raw.reason = aliased_refusal(form); !raw.reason.empty()) return execution;
  }
  CudaOccupancy occupancy;
  const auto decision = dispatch(c.implementation, shape, c.operation, c.dtype, occupancy);
  if (const auto* none = std::get_if<NoDispatch>(&decision)) {
    raw.ending = none->wrong_path ? Ending::kNotExecuted : Ending::kLaunchRejected;
    raw.reason = none->reason;
    return execution;
  }
  execution.launched = std::get<Dispatch>(decision);
  const Dispatch& d = *execution.launched;
  if (on_launch) on_launch(d);
  CudaTimings timings;
  raw = run_on_cuda(
      {form, kernel_of(c.implementation, c.operation, c.dtype, d), d.sized.launch, c.memory, windows,
       input_windows(form, windows), workspace_bytes(c.implementation, shape), launches_its_kernel(c.implementation)},
      &timings);
  raw.prepare_ms = timings.setup_ms + timings.mapping_ms + timings.fill_ms;
  raw.compare_ms = timings.check_ms;
  require_stamp(execution);
  return execution;
}

}  // namespace brink
