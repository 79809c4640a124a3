#include "properties/cuda_run.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include "kernels/execution/alias_period.h"
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
  explicit DeviceArray(int64_t size) {
    const auto bytes = checked_mul(size, int64_t{sizeof(T)});
    if (!bytes) require("an array for the comparison is too large");
    require("memory for the comparison", cudaMalloc(&data_, static_cast<size_t>(std::max<int64_t>(*bytes, 1))));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

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
};

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
  Comparison(const ClosedForm& form, std::vector<Interval> looked_at)
      : form_(form),
        ranges_(std::move(looked_at)),
        counts_(longest_in_chunks(ranges_)),
        chunks_(kBatch),
        states_(kBatch * kChunk),
        elements_(RawObservation::kMaxValues),
        bits_(RawObservation::kMaxValues) {}

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
    require(count_chunks(form_, output, range, counts_.get()));
    const std::vector<ChunkCount> counts = counts_.download(ceil_div(length(range), kChunk));
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
        chunks_.upload(batch.data(), static_cast<int64_t>(batch.size()));
        require(
            classify_chunks(form_, output, range, chunks_.get(), static_cast<int64_t>(batch.size()), states_.get()));
        states = states_.download(static_cast<int64_t>(batch.size()) * kChunk);
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
    elements_.upload(elements.data(), count);
    require(gather_bits(size_of(form_.dtype), output, elements_.get(), count, bits_.get()));
    const std::vector<uint64_t> bits = bits_.download(count);
    for (size_t i = 0; i < elements.size(); ++i) observation.values.push_back({elements[i], bits[i]});
  }

  ClosedForm form_;
  std::vector<Interval> ranges_;
  DeviceArray<ChunkCount> counts_;
  DeviceArray<int64_t> chunks_;
  DeviceArray<ElementState> states_;
  DeviceArray<int64_t> elements_;
  DeviceArray<uint64_t> bits_;
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
  if (auto reason = cuda_unavailable()) require(*reason);
  const ClosedForm& form = request.form;
  const int64_t numel = form.shape.numel();
  const int64_t element_bytes = size_of(form.dtype);
  const int inputs = input_count(form.operation);
  const bool is_aliased = request.memory == MemoryKind::kAliased;
  const IndexReach reach = reach_of(request.kernel.index_type);
  Comparison comparison(form, ranges_of(request));
  DeviceArray<unsigned long long> marks(1);
  timings.setup_ms = watch.lap();

  // The inputs' tripwire is not the output's: what a kernel reads there must not be what it wrote there.
  std::optional<CudaPhysical> output_tripwire;
  std::optional<CudaPhysical> input_tripwire;
  if (is_aliased) {
    for (std::optional<CudaPhysical>* tripwire : {&output_tripwire, &input_tripwire}) {
      *tripwire = require(CudaPhysical::create(tripwire_bytes(reach, element_bytes)), "tripwire");
      observation.physical_bytes += (*tripwire)->bytes();
    }
  }
  const auto make = [&](const std::vector<Interval>& windows, const std::optional<CudaPhysical>& tripwire,
                        const std::string& name) {
    CudaTensor tensor = require(
        tripwire ? CudaTensor::aliased(numel, element_bytes, reach, own_slots(numel, element_bytes, windows), *tripwire)
                 : CudaTensor::dense(numel, element_bytes, reach),
        name);
    timings.mappings += tensor.mappings();
    observation.physical_bytes += tensor.physical_bytes();
    return tensor;
  };
  const CudaTensor output = make(request.windows, output_tripwire, "output tensor");
  std::vector<CudaTensor> input_tensors;
  input_tensors.reserve(static_cast<size_t>(inputs));
  for (int i = 0; i < inputs; ++i) {
    input_tensors.push_back(make(request.input_windows, input_tripwire, fmt::format("input tensor {}", i)));
  }
  timings.mapping_ms = watch.lap();

  const Interval whole_tripwire = {0, is_aliased ? output_tripwire->bytes() / element_bytes - 1 : -1};
  if (is_aliased) {
    // The poison is a NaN.
    require(fill_poison(element_bytes, output.tripwire(), whole_tripwire));
    require(fill_poison(element_bytes, input_tensors.front().tripwire(), whole_tripwire));
  }
  for (const CudaPiece& piece : output.pieces()) {
    require(fill_poison(element_bytes, output.data(), {piece.first, piece.first + piece.count - 1}));
  }
  CudaTensors tensors;
  tensors.output = output.data();
  for (int i = 0; i < inputs; ++i) {
    const CudaTensor& tensor = input_tensors[static_cast<size_t>(i)];
    tensors.inputs[i] = tensor.data();
    for (const CudaPiece& piece : tensor.pieces()) {
      require(fill_input(form, i, piece.filler, tensor.data(), {piece.first, piece.first + piece.count - 1}));
    }
  }
  require("fill", cudaDeviceSynchronize());
  timings.fill_ms = watch.lap();

  const CudaLaunchResult launch = launch_on_cuda(request.kernel, request.launch, form.shape, tensors);
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

  comparison.run(output.data(), observation);
  require("marks", cudaMemset(marks.get(), 0, sizeof(unsigned long long)));
  if (is_aliased) require(count_marks(element_bytes, output.tripwire(), whole_tripwire, marks.get()));
  // Behind the last element, on its page. Every tensor's last piece reaches to the end of that page.
  const auto behind = std::max_element(output.pieces().begin(), output.pieces().end(),
                                       [](const CudaPiece& a, const CudaPiece& b) { return a.first < b.first; });
  require(count_marks(element_bytes, output.data(), {numel, behind->first + behind->count - 1}, marks.get()));
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
    ended.physical_bytes = observation.physical_bytes;
    return ended;
  }
  return observation;
}

}  // namespace brink
