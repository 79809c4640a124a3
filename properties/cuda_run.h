#pragma once

#include <cstdint>
#include <vector>

#include "kernels/execution/interval.h"
#include "kernels/softmax/launch.h"
#include "properties/closed_form.h"
#include "properties/raw_observation.h"

namespace brink {

/// One execution on the GPU.
struct CudaRequest {
  ClosedForm form;  ///< shape, operation and dtype; its numel() is at least 1
  KernelId kernel;  ///< of the form's operation and dtype
  Launch launch;
  MemoryKind memory = MemoryKind::kDense;  ///< kDense or kAliased
  /// Output elements to look at, in aliased memory; dense memory is looked at as a whole.
  std::vector<Interval> windows;
  /// Elements of the inputs that have their real values in aliased memory. Elsewhere an input holds what the form gives
  /// an element that is not hot: right for those, and for no other.
  std::vector<Interval> input_windows;
  int64_t workspace_bytes = 0;  ///< memory that the implementation itself takes; a lack of it is kOutOfMemory
  bool launches = true;         ///< false: everything but the launch itself, as an implementation does that forgets it
};

/// Where the time of an execution went, beside RawObservation::kernel_ms.
struct CudaTimings {
  double setup_ms = 0;    ///< the CUDA context and buffers for the comparison
  double mapping_ms = 0;  ///< physical memory and address spaces
  double fill_ms = 0;     ///< inputs and poison
  double check_ms = 0;    ///< comparison
  int64_t mappings = 0;   ///< of physical memory, over all tensors
};

/// Runs a kernel on the GPU and compares what it left with the closed form, on the GPU, bit for bit (-0 and +0 are the
/// same; NaN is never right). Never throws for what the device does: a launch that is refused, a fault, or a lack of
/// memory, of support or of CUDA itself is an ending with a reason. After kFault this process can run nothing more on
/// the GPU, and each further request ends as kNotExecuted. There is no time limit: a kernel that hangs hangs the
/// caller.
///
/// Aliased memory and the comparison's arrays stay with the process for the next run; physical_bytes counts what this
/// run used, tripwires included. Calls must not overlap.
///
/// wild_writes: the kernel wrote outside the output; in aliased memory anywhere that a wrapped index of its type can
/// reach, in dense memory behind the last element on its page (further away it faults).
RawObservation run_on_cuda(const CudaRequest& request, CudaTimings* timings = nullptr);

}  // namespace brink
