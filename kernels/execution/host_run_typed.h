#pragma once

#include "kernels/execution/host_run.h"
#include "kernels/replicas/torn_barrier.h"

namespace brink {

/// run_on_host for one element type; instantiated once each, in host_run_*.cpp.
template <class T>
BlockEnd run_on_host_typed(const KernelId& kernel, const Decomposition& shape, const Launch& launch,
                           const std::vector<BlockPart>* parts, int64_t loop_limit, HostTensors& tensors,
                           BarrierDivergence* divergence) {
  const HostMemory<T> memory(tensors);
  static thread_local HostBlock block;
  return with_operation(kernel.operation, [&](auto operation) {
    constexpr Operation kOperation = decltype(operation)::value;
    return with_variant(kernel.variant, [&](auto variant) {
      constexpr Variant kVariant = decltype(variant)::value;
      return with_index_type(kernel.index_type, [&](auto index) {
        using I = decltype(index);
        const auto body = [&](HostThread& thread) {
          if (tensors.stamp.word == 0) tensors.stamp = stamp_of<T, kOperation, kVariant, I>(thread);
          if constexpr (std::is_same_v<I, int64_t> && kVariant == Variant::kReduce) {
            if (kernel.build == Build::kTornBarrier) {
              return torn_barrier_kernel<kOperation, I>(thread, memory, shape);
            }
          }
          run_kernel<kOperation, kVariant, I>(thread, memory, shape);
        };
        const BlockEnd end = for_each_block(launch, parts, [&](const BlockPart& part) {
          return run_part(block, launch, kernel.variant, loop_limit, part, body);
        });
        if (end == BlockEnd::kBarrierDivergence && divergence != nullptr) *divergence = block.divergence();
        return end;
      });
    });
  });
}

extern template BlockEnd run_on_host_typed<F16>(const KernelId&, const Decomposition&, const Launch&,
                                                const std::vector<BlockPart>*, int64_t, HostTensors&,
                                                BarrierDivergence*);
extern template BlockEnd run_on_host_typed<BF16>(const KernelId&, const Decomposition&, const Launch&,
                                                 const std::vector<BlockPart>*, int64_t, HostTensors&,
                                                 BarrierDivergence*);
extern template BlockEnd run_on_host_typed<float>(const KernelId&, const Decomposition&, const Launch&,
                                                  const std::vector<BlockPart>*, int64_t, HostTensors&,
                                                  BarrierDivergence*);
extern template BlockEnd run_on_host_typed<double>(const KernelId&, const Decomposition&, const Launch&,
                                                   const std::vector<BlockPart>*, int64_t, HostTensors&,
                                                   BarrierDivergence*);

}  // namespace brink
