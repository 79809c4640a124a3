#include "properties/cuda_run.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "kernels/execution/alias_period.h"
#include "kernels/execution/cuda/cuda_aliased.h"
#include "kernels/execution/cuda/cuda_device.h"
#include "kernels/execution/cuda/cuda_error.h"
#include "kernels/execution/cuda/cuda_launch.h"
#include "kernels/execution/cuda/cuda_memory.h"
#include "kernels/index/checked.h"
#include "properties/cuda/fill_and_check.h"

namespace brink {

namespace {

/// Chunks that hold more than one state and are looked at one by one, and intervals of either kind: beyond these the
/// rest of such chunks counts as not looked at.
constexpr int64_t kMixedChunksMax = 1 << 16;
constexpr size_t kIntervalsMax = 1 << 20;
/// Mixed chunks that are classified together.
constexpr int64_t kBatch = 1024;

// Thrown inside this file alone: the run cannot go on.
struct Stopped {
  Ending ending;
  std::string reason;
};

void require(const std::string& error) {
  if (!error.empty()) throw Stopped{Ending::kNotExecuted, error};
}
void require(const char* what, cudaError_t error) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  require(cuda_failure(what, error));
}
template <class T>
T require(std::variant<T, std::string> result, const std::string& what) {
  if (const auto* error = std::get_if<std::string>(&result)) require(what + ": " + *error);
  return std::get<T>(std::move(result));
}

class Stopwatch {
 public:
  /// Milliseconds since the last call.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> passed = now - std::exchange(start_, now);
    return passed.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// An array on the GPU.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  /// Makes room for `size` elements; what the array held may be lost.
  void reserve(int64_t size) {
    if (data_ != nullptr && size <= size_) return;
    const auto bytes = checked_mul(size, int64_t{sizeof(T)});
    if (!bytes) require("an array for the comparison is too large");
    cudaFree(std::exchange(data_, nullptr));
    require("memory for the comparison", cudaMalloc(&data_, static_cast<size_t>(std::max<int64_t>(*bytes, 1))));
    size_ = size;
  }
  /// Takes `bytes`, or says why not.
  cudaError_t take(size_t bytes) {
    const cudaError_t error = cudaMalloc(&data_, bytes);
    if (error != cudaSuccess) cudaGetLastError();  // a lack of memory is no lasting error
    return error;
  }
  T* get() const { return static_cast<T*>(data_); }
  void upload(const T* from, int64_t count) {
    require("upload", cudaMemcpy(data_, from, static_cast<size_t>(count) * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> download(int64_t count) const {
    std::vector<T> result(static_cast<size_t>(count));
    require("download", cudaMemcpy(result.data(), data_, result.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return result;
  }

 private:
  void* data_ = nullptr;
  int64_t size_ = 0;
};

/// Arrays for the comparison.
struct Workspace {
  DeviceArray<ChunkCount> counts;
  DeviceArray<int64_t> chunks;
  DeviceArray<ElementState> states;
  DeviceArray<int64_t> elements;
  DeviceArray<uint64_t> bits;
  DeviceArray<unsigned long long> marks;

  void reserve(int64_t most_chunks) {
    counts.reserve(most_chunks);
    chunks.reserve(kBatch);
    states.reserve(kBatch * kChunk);
    elements.reserve(RawObservation::kMaxValues);
    bits.reserve(RawObservation::kMaxValues);
    marks.reserve(1);
  }
};

/// Aliased memory that is kept from run to run, with its mappings: only what another case needs differently is mapped
/// anew. What it holds is not kept: fillers, windows and tripwires are filled before each run.
class AliasedMemory {
 public:
  static constexpr size_t kOutput = 2;  ///< the inputs are tensors 0 and 1

  CudaTensor arrange(size_t tensor, const ClosedForm& form, const IndexReach& reach,
                     const std::vector<Interval>& windows, const std::string& name) {
    const int64_t element_bytes = size_of(form.dtype);
    const int64_t numel = form.shape.numel();
    // Cases of one key differ in a few mappings alone, as the sizes next to a power of two are of one class. Spaces of
    // other keys keep theirs beside it, in the same memory.
    const auto size_class = static_cast<int>(std::bit_width(static_cast<uint64_t>(slot_count(numel, element_bytes))));
    CudaAliasedSpace& space = spaces_[{tensor, element_bytes, reach.before, reach.end, size_class}];
    return require(space.arrange(numel, element_bytes, reach, own_pages(numel, element_bytes, windows), pools_[tensor],
                                 tripwire(tensor)),
                   name);
  }

  // The inputs' tripwire is not the output's: what a kernel reads there must not be what it wrote there.
  const CudaTripwire& tripwire(size_t tensor) {
    std::optional<CudaTripwire>& found = tensor == kOutput ? output_tripwire_ : input_tripwire_;
    if (!found) found = require(CudaTripwire::create(), "tripwire");
    return *found;
  }

  /// Whether it has grown so much that it should not be kept for the next case.
  bool is_large() const {
    constexpr int64_t kBytesMax = int64_t{512} << 20;
    constexpr size_t kSpacesMax = 48;  // the driver's records of their mappings take memory, too
    return pools_[0].bytes() + pools_[1].bytes() + pools_[2].bytes() > kBytesMax || spaces_.size() > kSpacesMax;
  }

 private:
  std::optional<CudaTripwire> output_tripwire_;
  std::optional<CudaTripwire> input_tripwire_;
  CudaPool pools_[3];
  std::map<std::tuple<size_t, int64_t, int64_t, int64_t, int>, CudaAliasedSpace> spaces_;  // end first
};

/// What this process keeps between runs.
struct Kept {
  Workspace workspace;
  std::optional<AliasedMemory> aliased;
  KernelStamp* stamp = nullptr;  // memory of the host that kernels write to: it outlives a fault
};

Kept& kept() {
  // Never destroyed: at the process's end the driver may be gone already, and takes everything with it.
  static auto* instance = new Kept;
  return *instance;
}

/// Elements in ascending order, as joined intervals.
class AscendingIntervals {
 public:
  void append(int64_t first, int64_t last) {
    if (!parts_.empty() && first == parts_.back().last + 1) {
      parts_.back().last = last;
    } else {
      parts_.push_back({first, last});
    }
  }
  size_t size() const { return parts_.size(); }
  std::vector<Interval> take() { return std::move(parts_); }

 private:
  std::vector<Interval> parts_;
};

int64_t length(const Interval& interval) { return interval.last - interval.first + 1; }

/// Compares the output with the closed form. Made before the run, so that a lack of memory shows before it.
class Comparison {
 public:
  Comparison(const ClosedForm& form, std::vector<Interval> looked_at, Workspace& workspace)
      : form_(form), ranges_(std::move(looked_at)), workspace_(workspace) {
    workspace_.reserve(longest_in_chunks(ranges_));
  }

  void run(const void* output, RawObservation& observation) {
    for (const Interval& range : ranges_) compare(output, range);
    observation.looked_at = looked_at_.take();
    observation.unwritten = unwritten_.take();
    observation.wrong = wrong_.take();
    observation.complete = complete_;
    read_values(output, observation);
  }

 private:
  static int64_t longest_in_chunks(const std::vector<Interval>& ranges) {
    int64_t longest = 0;
    for (const Interval& range : ranges) longest = std::max(longest, ceil_div(length(range), kChunk));
    return longest;
  }

  void compare(const void* output, const Interval& range) {
    require(count_chunks(form_, output, range, workspace_.counts.get()));
    const std::vector<ChunkCount> counts = workspace_.counts.download(ceil_div(length(range), kChunk));
    // States of the mixed chunks of one batch, in order; `next` is the one that comes next.
    std::vector<int64_t> batch;
    std::vector<ElementState> states;
    size_t next = 0;
    for (size_t c = 0; c < counts.size(); ++c) {
      const int64_t first = range.first + static_cast<int64_t>(c) * kChunk;
      const int64_t last = std::min(first + kChunk - 1, range.last);
      const int64_t size = last - first + 1;
      const int64_t wrong = counts[c].wrong();
      const int64_t unwritten = counts[c].unwritten();
      if (!is_mixed(counts[c], size)) {
        if (wrong == size) wrong_.append(first, last);
        if (unwritten == size) unwritten_.append(first, last);
        looked_at_.append(first, last);
        continue;
      }
      if (mixed_seen_ >= kMixedChunksMax || std::max(wrong_.size(), unwritten_.size()) >= kIntervalsMax) {
        complete_ = false;
        continue;
      }
      ++mixed_seen_;
      if (next == batch.size()) {
        batch = next_mixed(counts, c, range);
        workspace_.chunks.upload(batch.data(), static_cast<int64_t>(batch.size()));
        require(classify_chunks(form_, output, range, workspace_.chunks.get(), static_cast<int64_t>(batch.size()),
                                workspace_.states.get()));
        states = workspace_.states.download(static_cast<int64_t>(batch.size()) * kChunk);
        next = 0;
      }
      const size_t base = next++ * kChunk;
      for (int64_t k = 0; k < size; ++k) {
        const ElementState state = states[base + static_cast<size_t>(k)];
        if (state == ElementState::kWrong) wrong_.append(first + k, first + k);
        if (state == ElementState::kUnwritten) unwritten_.append(first + k, first + k);
      }
      looked_at_.append(first, last);
    }
  }

  static bool is_mixed(const ChunkCount& count, int64_t size) {
    const bool all_right = count.wrong() == 0 && count.unwritten() == 0;
    return !all_right && count.wrong() != size && count.unwritten() != size;
  }

  // Up to kBatch mixed chunks from `first` on.
  static std::vector<int64_t> next_mixed(const std::vector<ChunkCount>& counts, size_t first, const Interval& range) {
    std::vector<int64_t> batch;
    for (size_t c = first; c < counts.size() && static_cast<int64_t>(batch.size()) < kBatch; ++c) {
      const auto chunk = static_cast<int64_t>(c);
      if (is_mixed(counts[c], std::min(kChunk, length(range) - chunk * kChunk))) batch.push_back(chunk);
    }
    return batch;
  }

  void read_values(const void* output, RawObservation& observation) {
    std::vector<int64_t> elements;
    for (const Interval& interval : observation.wrong) {
      for (int64_t n = interval.first; n <= interval.last && elements.size() < RawObservation::kMaxValues; ++n) {
        elements.push_back(n);
      }
    }
    if (elements.empty()) return;
    const auto count = static_cast<int64_t>(elements.size());
    workspace_.elements.upload(elements.data(), count);
    require(gather_bits(size_of(form_.dtype), output, workspace_.elements.get(), count, workspace_.bits.get()));
    const std::vector<uint64_t> bits = workspace_.bits.download(count);
    for (size_t i = 0; i < elements.size(); ++i) observation.values.push_back({elements[i], bits[i]});
  }

  ClosedForm form_;
  std::vector<Interval> ranges_;
  Workspace& workspace_;
  AscendingIntervals looked_at_;
  AscendingIntervals wrong_;
  AscendingIntervals unwritten_;
  int64_t mixed_seen_ = 0;
  bool complete_ = true;
};

void check_request(const CudaRequest& request) {
  const ClosedForm& form = request.form;
  const Decomposition& shape = form.shape;
  if (form.operation != request.kernel.operation || form.dtype != request.kernel.dtype) {
    require("the closed form is of another operation or dtype than the kernel");
  }
  if (shape.outer_size < 1 || shape.dim_size < 1 || shape.inner_size < 1) require("an empty tensor");
  if (request.memory == MemoryKind::kSparse) require("the GPU has no sparse memory");
  const bool coded = form.family != FormFamily::kSeed;
  if (request.memory == MemoryKind::kAliased && coded && period_elements(size_of(form.dtype)) % form.prime != 0) {
    require(fmt::format("aliased memory cannot carry codes modulo {}: the filler's period is no multiple of it",
                        form.prime));
  }
}

/// The parts of 0 .. numel - 1 that are looked at.
std::vector<Interval> ranges_of(const CudaRequest& request) {
  const int64_t last = request.form.shape.numel() - 1;
  if (request.memory == MemoryKind::kDense) return {{0, last}};
  std::vector<Interval> ranges;
  for (const Interval& window : request.windows) {
    ranges.push_back({std::max<int64_t>(window.first, 0), std::min(window.last, last)});
  }
  return normalized(std::move(ranges));
}

void run(const CudaRequest& request, CudaTimings& timings, RawObservation& observation) {
  check_request(request);
  Stopwatch watch;
  // It also waits for what an earlier run may have left on the GPU: its memory is about to be mapped anew.
  if (auto reason = cuda_unavailable()) require(*reason);
  const ClosedForm& form = request.form;
  const int64_t numel = form.shape.numel();
  const int64_t element_bytes = size_of(form.dtype);
  const int inputs = input_count(form.operation);
  const bool is_aliased = request.memory == MemoryKind::kAliased;
  const IndexReach reach = reach_of(request.kernel.index_type);
  Comparison comparison(form, ranges_of(request), kept().workspace);
  const DeviceArray<unsigned long long>& marks = kept().workspace.marks;
  timings.setup_ms = watch.lap();

  std::optional<AliasedMemory>& aliased = kept().aliased;
  if (aliased && aliased->is_large()) aliased.reset();
  std::vector<CudaDenseTensor> dense;
  if (is_aliased) {
    if (!aliased) aliased.emplace();
    for (const size_t tensor : {size_t{0}, AliasedMemory::kOutput}) {
      observation.physical_bytes += aliased->tripwire(tensor).bytes();
    }
  }
  const auto make = [&](size_t tensor, const std::vector<Interval>& windows, const std::string& name) {
    CudaTensor made;
    if (is_aliased) {
      made = aliased->arrange(tensor, form, reach, windows, name);
    } else {
      auto created = CudaDenseTensor::create(numel, element_bytes, reach);
      if (std::holds_alternative<std::string>(created) && aliased) {
        // It may fit without what is kept.
        aliased.reset();
        created = CudaDenseTensor::create(numel, element_bytes, reach);
      }
      dense.push_back(require(std::move(created), name));
      made = dense.back().tensor();
    }
    timings.mappings += made.mappings;
    observation.physical_bytes += made.physical_bytes;
    return made;
  };
  const CudaTensor output = make(AliasedMemory::kOutput, request.windows, "output tensor");
  std::vector<CudaTensor> input_tensors;
  input_tensors.reserve(static_cast<size_t>(inputs));
  for (int i = 0; i < inputs; ++i) {
    input_tensors.push_back(make(static_cast<size_t>(i), request.input_windows, fmt::format("input tensor {}", i)));
  }
  timings.mapping_ms = watch.lap();

  // The poison is a NaN. All of it is written anew, the tripwires' too: the last run may have left its marks there.
  require(fill_poison(element_bytes, output.data, output.pieces));
  CudaTensors tensors;
  tensors.output = output.data;
  for (int i = 0; i < inputs; ++i) {
    const CudaTensor& tensor = input_tensors[static_cast<size_t>(i)];
    tensors.inputs[i] = tensor.data;
    require(fill_input(form, i, tensor.data, tensor.pieces));
  }
  require("fill", cudaDeviceSynchronize());
  timings.fill_ms = watch.lap();

  DeviceArray<char> own;
  if (request.workspace_bytes > 0) {
    const auto bytes = static_cast<size_t>(request.workspace_bytes);
    if (const cudaError_t error = own.take(bytes); error != cudaSuccess) {
      throw Stopped{Ending::kOutOfMemory,
                    fmt::format("the implementation's workspace of {} bytes: {}", bytes, cudaGetErrorString(error))};
    }
    require("workspace", cudaMemset(own.get(), 1, bytes));
  }
  KernelStamp*& stamp = kept().stamp;
  if (stamp == nullptr) {
    void* memory = nullptr;
    require("memory for the stamp", cudaHostAlloc(&memory, sizeof(*stamp), cudaHostAllocMapped));
    stamp = static_cast<KernelStamp*>(memory);
  }
  *stamp = {};
  void* on_device = nullptr;
  require("the stamp's address", cudaHostGetDevicePointer(&on_device, stamp, 0));
  tensors.stamp = static_cast<KernelStamp*>(on_device);
  const CudaLaunchResult launch = request.launches ? launch_on_cuda(request.kernel, request.launch, form.shape, tensors)
                                                   : CudaLaunchResult{CudaLaunchEnd::kCompleted, "", 0};
  observation.stamp = *stamp;
  observation.kernel_ms = launch.kernel_ms;
  switch (launch.end) {
    case CudaLaunchEnd::kCompleted:
      break;
    case CudaLaunchEnd::kRejected:
      throw Stopped{Ending::kLaunchRejected, launch.reason};
    case CudaLaunchEnd::kFault:
      throw Stopped{Ending::kFault, launch.reason};
    case CudaLaunchEnd::kNotExecuted:
      throw Stopped{Ending::kNotExecuted, launch.reason};
  }
  watch.lap();

  comparison.run(output.data, observation);
  require("marks", cudaMemset(marks.get(), 0, sizeof(unsigned long long)));
  for (const CudaPiece& piece : output.pieces) {
    if (piece.kind != PieceKind::kTripwire) continue;
    require(count_marks(element_bytes, output.data, {piece.first, piece.first + piece.count - 1}, marks.get()));
  }
  // Behind the last element, on its page, which is the tensor's own.
  const int64_t page_end = page_count(numel, element_bytes) * page_elements(element_bytes);
  require(count_marks(element_bytes, output.data, {numel, page_end - 1}, marks.get()));
  observation.wild_writes = marks.download(1).front() != 0;
  timings.check_ms = watch.lap();
  observation.ending = Ending::kCompleted;
}

}  // namespace

RawObservation run_on_cuda(const CudaRequest& request, CudaTimings* timings) {
  CudaTimings ignored;
  CudaTimings& times = timings != nullptr ? *timings : ignored;
  times = {};
  RawObservation observation;
  try {
    run(request, times, observation);
  } catch (const Stopped& stopped) {
    // What was compared before it stopped is not the whole: none of it is reported.
    RawObservation ended;
    ended.ending = stopped.ending;
    ended.reason = stopped.reason;
    ended.kernel_ms = observation.kernel_ms;
    ended.stamp = observation.stamp;
    ended.physical_bytes = observation.physical_bytes;
    return ended;
  }
  return observation;
}

}  // namespace brink
