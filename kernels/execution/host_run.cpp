#include "kernels/execution/host_run.h"

#include "kernels/execution/host_run_typed.h"

namespace brink {

BlockEnd run_on_host(const KernelId& kernel, const Decomposition& shape, const Launch& launch,
                     const std::vector<BlockPart>* parts, int64_t loop_limit, HostTensors& tensors,
                     BarrierDivergence* divergence) {
  return with_dtype(kernel.dtype, [&](auto element) {
    return run_on_host_typed<decltype(element)>(kernel, shape, launch, parts, loop_limit, tensors, divergence);
  });
}

}  // namespace brink
