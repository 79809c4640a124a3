#include "kernels/execution/host_run_typed.h"

namespace brink {

template BlockEnd run_on_host_typed<float>(const KernelId&, const Decomposition&, const Launch&,
                                           const std::vector<BlockPart>*, int64_t, HostTensors&, BarrierDivergence*);

}  // namespace brink
