#include "kernels/execution/cuda/cuda_kernels.cuh"

namespace brink {

template const void* kernel_function_typed<double>(const KernelId&);

}  // namespace brink
