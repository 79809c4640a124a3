#include "kernels/execution/cuda/cuda_kernels.cuh"

namespace brink {

template const void* kernel_function_typed<float>(const KernelId&);

}  // namespace brink
