#include "kernels/execution/cuda/cuda_kernels.h"

#include "kernels/softmax/dtype.h"

namespace brink {

extern template const void* kernel_function_typed<F16>(const KernelId&);
extern template const void* kernel_function_typed<BF16>(const KernelId&);
extern template const void* kernel_function_typed<float>(const KernelId&);
extern template const void* kernel_function_typed<double>(const KernelId&);

const void* kernel_function(const KernelId& kernel) {
  if (!has_cuda_kernel(kernel.build, kernel.index_type)) return nullptr;
  return with_dtype(kernel.dtype, [&](auto element) { return kernel_function_typed<decltype(element)>(kernel); });
}

}  // namespace brink
