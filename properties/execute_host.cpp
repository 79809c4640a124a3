#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "kernels/execution/alias_period.h"
#include "kernels/execution/host_run.h"
#include "kernels/execution/host_space.h"
#include "kernels/index/checked.h"
#include "kernels/replicas/no_launch.h"
#include "kernels/replicas/workspace.h"
#include "properties/execution.h"
#include "properties/input_windows.h"
#include "properties/observe.h"

namespace brink {

namespace {

class FormSource : public InputSource {
 public:
  explicit FormSource(const ClosedForm& form) : form_(form) {}
  double input(int tensor, int64_t n) const override { return form_.input(tensor, n); }

 private:
  const ClosedForm& form_;
};

template <class T>
void fill_inputs(const ClosedForm& form, const HostTensors& tensors, const Interval& range) {
  using Traits = ElementTraits<T>;
  for (int tensor = 0; tensor < input_count(form.operation); ++tensor) {
    T* data = static_cast<T*>(tensors.inputs[tensor]);
    for (int64_t n = range.first; n <= range.last; ++n) {
      data[n] = Traits::store(static_cast<typename Traits::Acc>(form.input(tensor, n)));
    }
  }
}

// Slots of their own hold real values; the filler holds what all but the hot elements have.
template <class T>
void fill_aliased(const ClosedForm& form, const HostTensors& tensors, const std::vector<int64_t>& own) {
  using Traits = ElementTraits<T>;
  const int64_t elements = period_elements(sizeof(T));
  const int64_t slots = slot_count(tensors.numel, sizeof(T));
  for (const int64_t slot : own) {
    fill_inputs<T>(form, tensors, {slot * elements, std::min((slot + 1) * elements, tensors.numel) - 1});
  }
  int64_t filler = 0;
  while (filler < slots && std::binary_search(own.begin(), own.end(), filler)) ++filler;
  if (filler == slots) return;
  ClosedForm never_hot = form;
  never_hot.shape = {1, int64_t{1} << 40, 1};
  for (int tensor = 0; tensor < input_count(form.operation); ++tensor) {
    T* data = static_cast<T*>(tensors.inputs[tensor]) + filler * elements;
    for (int64_t n = 0; n < elements; ++n) {
      // The seed's first element is hot: take another one's value for it.
      const int64_t like = form.family == FormFamily::kSeed ? 1 : n;
      data[n] = Traits::store(static_cast<typename Traits::Acc>(never_hot.input(tensor, like)));
    }
  }
}

template <class T>
void poison(void* output, const Interval& range) {
  using Bits = typename ElementTraits<T>::Bits;
  Bits* data = static_cast<Bits*>(output);
  std::fill(data + range.first, data + range.last + 1, static_cast<Bits>(poison_bits(sizeof(T))));
}

// The sizes that the kernel sees; nothing is executed where one of them is not positive.
Decomposition narrowed_sizes(const Decomposition& shape, IndexType type) {
  return with_index_type(type, [&](auto index) {
    using I = decltype(index);
    return Decomposition{static_cast<int64_t>(static_cast<I>(shape.outer_size)),
                         static_cast<int64_t>(static_cast<I>(shape.dim_size)),
                         static_cast<int64_t>(static_cast<I>(shape.inner_size))};
  });
}

// The part of the grid that works on the element at `at`: its block, and its thread row where threads are independent.
BlockPart part_of(const SizedLaunch& sized, const Position& at) {
  const Launch& launch = sized.launch;
  if (sized.path == Path::kLastDim) {
    return {{at.outer % (launch.grid_x * launch.block_y) / launch.block_y, 0}, 0, launch.block_y - 1};
  }
  const int64_t column = at.inner % (launch.grid_y * launch.block_y);
  const BlockIndex block{at.outer % launch.grid_x, column / launch.block_y};
  if (has_barriers(sized.variant)) return {block, 0, launch.block_y - 1};
  return {block, column % launch.block_y, column % launch.block_y};
}

// Sorts, and joins neighbouring parts of one block.
std::vector<BlockPart> joined_parts(std::vector<BlockPart> parts) {
  std::sort(parts.begin(), parts.end());
  std::vector<BlockPart> result;
  for (const BlockPart& part : parts) {
    if (!result.empty() && result.back().block == part.block && part.first_y <= result.back().last_y + 1) {
      result.back().last_y = std::max(result.back().last_y, part.last_y);
    } else {
      result.push_back(part);
    }
  }
  return result;
}

// What writes to a window element by its own address or by an address that wraps to it, and a few others: if one of
// those writes to a window, something is wrong with this very list.
std::vector<BlockPart> parts_to_run(const Decomposition& shape, const Dispatch& dispatch,
                                    const std::vector<Interval>& windows, uint64_t seed) {
  constexpr int kWraps = 8;
  constexpr int kSamples = 2;
  constexpr int64_t kSampledRows = 32;
  const IndexLimits limits = limits_of(dispatch.index_type);
  const Launch& launch = dispatch.sized.launch;
  const Decomposition seen = narrowed_sizes(shape, dispatch.index_type);
  std::vector<BlockPart> parts;
  const auto touch = [&](const Decomposition& sizes, int64_t n) {
    const BlockPart part = part_of(dispatch.sized, position_of(sizes, n));
    if (parts.empty() || parts.back() != part) parts.push_back(part);
  };
  for (const Interval& window : windows) {
    for (int64_t n = window.first; n <= window.last; ++n) touch(shape, n);
    if (limits.bits == 64 || seen.outer_size <= 0 || seen.dim_size <= 0 || seen.inner_size <= 0) continue;
    const int64_t modulus = int64_t{1} << limits.bits;
    for (int wrap = 0; wrap < kWraps; ++wrap) {
      const int64_t offset = wrap * modulus;
      const int64_t last = std::min(window.last + offset, seen.numel() - 1);
      for (int64_t n = window.first + offset; n <= last; ++n) touch(seen, n);
    }
  }
  for (int i = 0; i < kSamples; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const uint64_t draw = seed >> 16;
    const BlockIndex block{static_cast<int64_t>(draw % static_cast<uint64_t>(launch.grid_x)),
                           static_cast<int64_t>(draw / 7 % static_cast<uint64_t>(launch.grid_y))};
    const bool whole = has_barriers(dispatch.sized.variant) || launch.block_y <= kSampledRows;
    const int64_t first = whole ? 0 : static_cast<int64_t>(draw / 11) % (launch.block_y - kSampledRows + 1);
    parts.push_back({block, first, whole ? launch.block_y - 1 : first + kSampledRows - 1});
  }
  return joined_parts(std::move(parts));
}

// Element visits of one row of threads of a block, at most.
double visits_per_row(const Decomposition& shape, const SizedLaunch& sized) {
  const Launch& launch = sized.launch;
  const double passes = 3;
  const bool spatial = sized.path == Path::kSpatial;
  const double columns = spatial ? static_cast<double>(ceil_div(shape.outer_size, launch.grid_x)) *
                                       static_cast<double>(ceil_div(shape.inner_size, launch.grid_y * launch.block_y))
                                 : static_cast<double>(ceil_div(shape.outer_size, launch.grid_x * launch.block_y));
  return columns * static_cast<double>(shape.dim_size) * passes;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void not_executed(Execution& execution, std::string reason) {
  execution.raw.ending = Ending::kNotExecuted;
  execution.raw.reason = std::move(reason);
}

struct Buffers {
  Mapping inputs[2];
  Mapping output;
};

template <class T>
void run_typed(const Case& c, const Decomposition& shape, const std::vector<Interval>& windows,
               const OnLaunch& on_launch, Execution& execution) {
  const auto begin = std::chrono::steady_clock::now();
  const Dispatch& dispatch = *execution.launched;
  const ClosedForm form = closed_form_of(c, shape);
  const FormSource source(form);
  const int64_t numel = shape.numel();
  const bool whole = numel <= kWholeMax || c.memory == MemoryKind::kDense;
  const auto size = static_cast<int64_t>(sizeof(T));
  const auto bytes = checked_mul(numel, size);
  if (!bytes) return not_executed(execution, "the tensor's bytes overflow int64");

  // Work first: nothing is mapped for a case that will not run.
  std::vector<BlockPart> parts;
  const bool all_blocks = whole || c.memory != MemoryKind::kSparse;
  if (!all_blocks) parts = parts_to_run(shape, dispatch, windows, c.seed);
  const Launch& launch = dispatch.sized.launch;
  double rows = 0;
  for (const BlockPart& part : parts) rows += static_cast<double>(part.last_y - part.first_y + 1);
  if (all_blocks) {
    rows =
        static_cast<double>(launch.grid_x) * static_cast<double>(launch.grid_y) * static_cast<double>(launch.block_y);
  }
  const double work = rows * visits_per_row(shape, dispatch.sized);
  if (work > static_cast<double>(kHostWorkMax)) {
    return not_executed(
        execution, fmt::format("{:.1e} element visits are more than the host takes on ({:.1e}); run it on a GPU", work,
                               static_cast<double>(kHostWorkMax)));
  }

  // Dense memory is real memory: leave some to the machine rather than be ended by it.
  const double needed = static_cast<double>(*bytes) * (1 + input_count(c.operation));
  const auto available = static_cast<double>(available_bytes());
  if (c.memory == MemoryKind::kDense && available > 0 && needed > 0.8 * available) {
    return not_executed(execution, fmt::format("dense tensors of {:.1f} GiB do not fit in {:.1f} GiB of free memory",
                                               needed / (1 << 30), available / (1 << 30)));
  }

  HostTensors tensors;
  tensors.numel = numel;
  thread_local std::vector<double> pool[3];  // small tensors: no system call per case
  Buffers buffers;
  const int64_t reach = limits_of(dispatch.index_type).bits >= 64 ? 4096 : limits_of(dispatch.index_type).max + 4096;
  const bool aliased = c.memory == MemoryKind::kAliased && !whole;
  if (aliased) {
    if (std::string refusal = aliased_refusal(form); !refusal.empty())
      return not_executed(execution, std::move(refusal));
  }
  const std::vector<Interval> inputs_held = aliased ? input_windows(form, windows) : std::vector<Interval>();
  for (int tensor = 0; tensor < 3; ++tensor) {
    void*& data = tensor < 2 ? tensors.inputs[tensor] : tensors.output;
    if (tensor == 1 && input_count(c.operation) == 1) continue;
    if (tensor < 2 && !whole && !aliased) continue;  // sparse inputs come from their source
    if (numel <= kWholeMax && c.memory != MemoryKind::kDense) {
      auto& memory = pool[tensor];
      const auto words = static_cast<size_t>(*bytes / 8 + 9);
      if (memory.size() < words) memory.resize(words);
      const auto misaligned = reinterpret_cast<uintptr_t>(memory.data()) % 64;
      data = reinterpret_cast<char*>(memory.data()) + (misaligned == 0 ? 0 : 64 - misaligned);
      continue;
    }
    auto mapping = c.memory == MemoryKind::kDense ? Mapping::guarded(*bytes, reach * size, reach * size)
                   : aliased                      ? Mapping::aliased(*bytes, kPeriodBytes,
                                                                     slots_of(own_pages(numel, size, tensor < 2 ? inputs_held : windows)))
                                                  : Mapping::sparse(*bytes);
    if (const auto* error = std::get_if<std::string>(&mapping)) return not_executed(execution, *error);
    Mapping& kept = tensor < 2 ? buffers.inputs[tensor] : buffers.output;
    kept = std::move(std::get<Mapping>(mapping));
    execution.raw.physical_bytes += kept.physical_bytes();
    data = kept.data();
  }
  tensors.fault_out_of_bounds = c.memory == MemoryKind::kDense;
  const std::vector<Interval> looked_at = whole ? std::vector<Interval>{{0, numel - 1}} : windows;
  if (whole) {
    fill_inputs<T>(form, tensors, {0, numel - 1});
  } else if (aliased) {
    fill_aliased<T>(form, tensors, slots_of(own_pages(numel, size, inputs_held)));
  } else {
    tensors.source = &source;
  }
  for (const Interval& window : looked_at) {
    tensors.windows.push_back(
        {window.first, window.last, std::vector<uint8_t>(static_cast<size_t>(window.last - window.first + 1))});
    poison<T>(tensors.output, window);
  }

  if (on_launch) on_launch(dispatch);
  execution.raw.prepare_ms = milliseconds_since(begin);
  const auto start = std::chrono::steady_clock::now();
  const KernelId kernel = kernel_of(c.implementation, c.operation, c.dtype, dispatch);
  BarrierDivergence divergence;
  BlockEnd end = BlockEnd::kCompleted;
  if (launches_its_kernel(c.implementation)) {
    end = run_on_host(kernel, shape, launch, all_blocks ? nullptr : &parts,
                      loop_limit(shape, launch, dispatch.index_type), tensors, &divergence);
  }
  execution.raw.stamp = tensors.stamp;
  execution.raw.kernel_ms = milliseconds_since(start);
  if (end == BlockEnd::kBarrierDivergence) {
    execution.raw.ending = Ending::kFault;
    execution.raw.reason = fmt::format(
        "barrier divergence: {} of the {} threads of block ({}, {}) wait at barrier {}, the others do not",
        divergence.waiting, divergence.threads, divergence.index_x, divergence.index_y, name_of(divergence.barrier));
    return;
  }
  execution.raw.ending = end == BlockEnd::kHang ? Ending::kHang : Ending::kCompleted;
  execution.raw.looked_at = looked_at;
  const auto ended = std::chrono::steady_clock::now();
  if (end == BlockEnd::kCompleted) observe_windows<T>(form, tensors, execution.raw);
  execution.raw.compare_ms = milliseconds_since(ended);
}

}  // namespace

FixedOccupancy host_occupancy(const Implementation& implementation) {
  return FixedOccupancy(implementation.scaled() ? kScaledResidentBlocks : kHostResidentBlocks, kHostBlockRegisters);
}

Execution execute_on_host(const Case& c, const std::vector<Interval>& windows, const OnLaunch& on_launch) {
  Execution execution;
  const auto shape = std::get<Decomposition>(decompose(c));
  FixedOccupancy occupancy = host_occupancy(c.implementation);
  const auto decision = dispatch(c.implementation, shape, c.operation, c.dtype, occupancy);
  if (const auto* none = std::get_if<NoDispatch>(&decision)) {
    execution.raw.ending = none->wrong_path ? Ending::kNotExecuted : Ending::kLaunchRejected;
    execution.raw.reason = none->reason;
    return execution;
  }
  execution.launched = std::get<Dispatch>(decision);
  // The host launches what a device of this occupancy would launch.
  const KernelId kernel = kernel_of(c.implementation, c.operation, c.dtype, *execution.launched);
  if (std::string refusal = launch_refusal(kernel, execution.launched->sized.launch, occupancy); !refusal.empty()) {
    execution.raw.ending = Ending::kLaunchRejected;
    execution.raw.reason = std::move(refusal);
    return execution;
  }
  const HostWorkspace workspace(workspace_bytes(c.implementation, shape));
  if (!workspace.refusal().empty()) {
    execution.raw.ending = Ending::kOutOfMemory;
    execution.raw.reason = workspace.refusal();
    return execution;
  }
  with_dtype(c.dtype, [&](auto element) { run_typed<decltype(element)>(c, shape, windows, on_launch, execution); });
  require_stamp(execution);
  return execution;
}

}  // namespace brink
