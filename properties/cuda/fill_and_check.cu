#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>

#include "kernels/execution/cuda/cuda_error.h"
#include "kernels/index/checked.h"
#include "properties/cuda/fill_and_check.h"
#include "properties/filler_value.h"
#include "properties/raw_observation.h"

namespace brink {

namespace {

constexpr int kThreads = 256;
constexpr int64_t kBlocksMax = 1 << 14;

int blocks_for(int64_t items, int64_t per_block) {
  return static_cast<int>(std::clamp<int64_t>(ceil_div(items, per_block), 1, kBlocksMax));
}

std::string launched(const char* what) { return cuda_failure(what, cudaGetLastError()); }

__device__ int64_t first_item() { return static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; }
__device__ int64_t item_step() { return static_cast<int64_t>(gridDim.x) * kThreads; }

template <class Bits>
__device__ Bits poison() {
  return static_cast<Bits>(poison_bits(sizeof(Bits)));
}

template <class T>
__device__ typename ElementTraits<T>::Bits bits_of(T value) {
  typename ElementTraits<T>::Bits bits;
  static_assert(sizeof(bits) == sizeof(value));
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// The bits of `value`, which is exact in T.
template <class T>
__device__ typename ElementTraits<T>::Bits stored_bits(double value) {
  return bits_of(ElementTraits<T>::store(static_cast<typename ElementTraits<T>::Acc>(value)));
}

template <class T>
__device__ ElementState state_of(const ClosedForm& form, const typename ElementTraits<T>::Bits* data, int64_t n) {
  using Bits = typename ElementTraits<T>::Bits;
  const Bits found = data[n];
  if (found == poison<Bits>()) return ElementState::kUnwritten;
  const double value = form.expected(n);
  if (value != value) return ElementState::kWrong;  // NaN
  const Bits expected = stored_bits<T>(value);
  if (found == expected) return ElementState::kRight;
  // Shifting the sign out leaves nothing of either zero.
  const bool both_zero = static_cast<Bits>(found << 1) == 0 && static_cast<Bits>(expected << 1) == 0;
  return both_zero ? ElementState::kRight : ElementState::kWrong;
}

// Pieces that are filled by one launch, piece by piece of its y dimension: small ones cost a launch, not the memory.
struct PieceBatch {
  static constexpr int64_t kMax = 64;
  CudaPiece pieces[kMax];
};

template <class T>
__global__ void fill_input_kernel(ClosedForm form, int tensor, typename ElementTraits<T>::Bits* data, int64_t numel,
                                  PieceBatch batch) {
  using Bits = typename ElementTraits<T>::Bits;
  const CudaPiece piece = batch.pieces[blockIdx.y];
  for (int64_t i = first_item(); i < piece.count; i += item_step()) {
    const int64_t n = piece.first + i;
    if (piece.kind == PieceKind::kTripwire || n >= numel) {
      data[n] = poison<Bits>();
    } else {
      data[n] =
          stored_bits<T>(piece.kind == PieceKind::kFiller ? filler_value(form, tensor, n) : form.input(tensor, n));
    }
  }
}

template <class Bits>
__global__ void fill_poison_kernel(Bits* data, PieceBatch batch) {
  const CudaPiece piece = batch.pieces[blockIdx.y];
  for (int64_t i = first_item(); i < piece.count; i += item_step()) data[piece.first + i] = poison<Bits>();
}

template <class Bits>
__global__ void count_marks_kernel(const Bits* data, int64_t first, int64_t count, unsigned long long* total) {
  unsigned long long marks = 0;
  for (int64_t i = first_item(); i < count; i += item_step()) marks += data[first + i] != poison<Bits>() ? 1 : 0;
  if (marks != 0) atomicAdd(total, marks);
}

template <class T>
__global__ void count_chunks_kernel(ClosedForm form, const typename ElementTraits<T>::Bits* data, int64_t first,
                                    int64_t count, ChunkCount* counts) {
  __shared__ uint32_t sum;
  const int64_t chunks = (count + kChunk - 1) / kChunk;
  for (int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    uint32_t mine = 0;
    const int64_t end = chunk * kChunk + kChunk < count ? chunk * kChunk + kChunk : count;
    for (int64_t i = chunk * kChunk + threadIdx.x; i < end; i += kThreads) {
      const ElementState state = state_of<T>(form, data, first + i);
      mine += state == ElementState::kUnwritten ? 1u : state == ElementState::kWrong ? 1u << 16 : 0u;
    }
    if (mine != 0) atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) counts[chunk].packed = sum;
    __syncthreads();
  }
}

template <class T>
__global__ void classify_kernel(ClosedForm form, const typename ElementTraits<T>::Bits* data, int64_t first,
                                int64_t count, const int64_t* chunks, int64_t chunk_count, ElementState* states) {
  for (int64_t i = first_item(); i < chunk_count * kChunk; i += item_step()) {
    const int64_t at = chunks[i / kChunk] * kChunk + i % kChunk;
    states[i] = at < count ? state_of<T>(form, data, first + at) : ElementState::kRight;
  }
}

template <class Bits>
__global__ void gather_kernel(const Bits* data, const int64_t* elements, int64_t count, uint64_t* bits) {
  for (int64_t i = first_item(); i < count; i += item_step()) bits[i] = data[elements[i]];
}

int64_t size_of(const Interval& elements) { return elements.last - elements.first + 1; }

// Calls f with a value of the unsigned type of this size.
template <class F>
void with_bits(int64_t element_bytes, F&& f) {
  if (element_bytes == 8) {
    f(uint64_t{});
  } else if (element_bytes == 4) {
    f(uint32_t{});
  } else {
    f(uint16_t{});
  }
}

// Calls f with the grid and the pieces of each launch that fills `pieces`.
template <class F>
void for_batches(const std::vector<CudaPiece>& pieces, F&& f) {
  const auto count = static_cast<int64_t>(pieces.size());
  for (int64_t first = 0; first < count; first += PieceBatch::kMax) {
    const int64_t size = std::min(PieceBatch::kMax, count - first);
    PieceBatch batch{};
    int64_t longest = 0;
    for (int64_t i = 0; i < size; ++i) {
      batch.pieces[i] = pieces[static_cast<size_t>(first + i)];
      longest = std::max(longest, batch.pieces[i].count);
    }
    f(dim3(static_cast<unsigned>(blocks_for(longest, kThreads * 16)), static_cast<unsigned>(size)), batch);
  }
}

}  // namespace

std::string fill_input(const ClosedForm& form, int tensor, void* data, const std::vector<CudaPiece>& pieces) {
  with_dtype(form.dtype, [&](auto element) {
    using T = decltype(element);
    for_batches(pieces, [&](dim3 grid, const PieceBatch& batch) {
      fill_input_kernel<T><<<grid, kThreads>>>(form, tensor, static_cast<typename ElementTraits<T>::Bits*>(data),
                                               form.shape.numel(), batch);
    });
  });
  return launched("fill_input");
}

std::string fill_poison(int64_t element_bytes, void* data, const std::vector<CudaPiece>& pieces) {
  with_bits(element_bytes, [&](auto bits) {
    for_batches(pieces, [&](dim3 grid, const PieceBatch& batch) {
      fill_poison_kernel<<<grid, kThreads>>>(static_cast<decltype(bits)*>(data), batch);
    });
  });
  return launched("fill_poison");
}

std::string count_marks(int64_t element_bytes, const void* data, const Interval& elements,
                        unsigned long long* device_total) {
  const int64_t count = size_of(elements);
  if (count <= 0) return {};
  with_bits(element_bytes, [&](auto bits) {
    count_marks_kernel<<<blocks_for(count, kThreads * 16), kThreads>>>(static_cast<const decltype(bits)*>(data),
                                                                       elements.first, count, device_total);
  });
  return launched("count_marks");
}

std::string count_chunks(const ClosedForm& form, const void* data, const Interval& elements,
                         ChunkCount* device_counts) {
  const int64_t count = size_of(elements);
  if (count <= 0) return {};
  with_dtype(form.dtype, [&](auto element) {
    using T = decltype(element);
    count_chunks_kernel<T><<<blocks_for(count, kChunk), kThreads>>>(
        form, static_cast<const typename ElementTraits<T>::Bits*>(data), elements.first, count, device_counts);
  });
  return launched("count_chunks");
}

std::string classify_chunks(const ClosedForm& form, const void* data, const Interval& elements,
                            const int64_t* device_chunks, int64_t count, ElementState* device_states) {
  if (count <= 0) return {};
  with_dtype(form.dtype, [&](auto element) {
    using T = decltype(element);
    classify_kernel<T><<<blocks_for(count * kChunk, kThreads), kThreads>>>(
        form, static_cast<const typename ElementTraits<T>::Bits*>(data), elements.first, size_of(elements),
        device_chunks, count, device_states);
  });
  return launched("classify_chunks");
}

std::string gather_bits(int64_t element_bytes, const void* data, const int64_t* device_elements, int64_t count,
                        uint64_t* device_bits) {
  if (count <= 0) return {};
  with_bits(element_bytes, [&](auto bits) {
    gather_kernel<<<blocks_for(count, kThreads), kThreads>>>(static_cast<const decltype(bits)*>(data), device_elements,
                                                             count, device_bits);
  });
  return launched("gather_bits");
}

}  // namespace brink
