#pragma once

#include "kernels/execution/host_run.h"

namespace brink {

/// run_on_host for one element type; instantiated once each, in host_run_*.cpp.
template <class T>
BlockEnd run_on_host_typed(const KernelId& kernel, const Decomposition& shape, const Launch& launch,
                           const std::vector<BlockPart>* parts, int64_t loop_limit, HostTensors& tensors) {
  const HostMemory<T> memory(tensors);
  static thread_local HostBlock block;
  return with_operation(kernel.operation, [&](auto operation) {
    return with_variant(kernel.variant, [&](auto variant) {
      return with_index_type(kernel.index_type, [&](auto index) {
        using I = decltype(index);
        const auto body = [&](HostThread& thread) {
          if (tensors.stamp.word == 0) {
            tensors.stamp = stamp_of<T, decltype(operation)::value, decltype(variant)::value, I>(thread);
          }
          run_kernel<decltype(operation)::value, decltype(variant)::value, I>(thread, memory, shape);
        };
        return for_each_block(launch, parts, [&](const BlockPart& part) {
          return run_part(block, launch, kernel.variant, loop_limit, part, body);
        });
      });
    });
  });
}

extern template BlockEnd run_on_host_typed<F16>(const KernelId&, const Decomposition&, const Launch&,
                                                const std::vector<BlockPart>*, int64_t, HostTensors&);
extern template BlockEnd run_on_host_typed<BF16>(const KernelId&, const Decomposition&, const Launch&,
                                                 const std::vector<BlockPart>*, int64_t, HostTensors&);
extern template BlockEnd run_on_host_typed<float>(const KernelId&, const Decomposition&, const Launch&,
                                                  const std::vector<BlockPart>*, int64_t, HostTensors&);
extern template BlockEnd run_on_host_typed<double>(const KernelId&, const Decomposition&, const Launch&,
                                                   const std::vector<BlockPart>*, int64_t, HostTensors&);

}  // namespace brink
