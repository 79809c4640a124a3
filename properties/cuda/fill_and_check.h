#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/execution/cuda/cuda_memory.h"
#include "kernels/execution/interval.h"
#include "properties/closed_form.h"

// GPU kernels that fill tensors and compare them. All take the device address of a tensor's element 0 and intervals of
// elements, run on the default stream, and return a one-line error, empty where the kernel was launched.

namespace brink {

/// Elements that are counted together when outputs are compared.
inline constexpr int64_t kChunk = 4096;

/// What one output element holds.
enum class ElementState : uint8_t { kRight, kUnwritten, kWrong };

/// Right, unwritten and wrong elements of a chunk, as one chunk's packed count.
struct ChunkCount {
  uint32_t packed = 0;
  int64_t unwritten() const { return packed & 0xffff; }
  int64_t wrong() const { return packed >> 16; }
};

/// Writes an input's values into `pieces`: the form's where they are own, filler_value() where they are filler, poison
/// into tripwires and from the form's numel on.
std::string fill_input(const ClosedForm& form, int tensor, void* data, const std::vector<CudaPiece>& pieces);

/// Writes poison_bits(element_bytes) into `pieces`.
std::string fill_poison(int64_t element_bytes, void* data, const std::vector<CudaPiece>& pieces);

/// Adds to *device_total the elements that do not hold the poison.
std::string count_marks(int64_t element_bytes, const void* data, const Interval& elements,
                        unsigned long long* device_total);

/// Compares `elements`, chunk by chunk from elements.first on: device_counts[i] is of chunk i.
std::string count_chunks(const ClosedForm& form, const void* data, const Interval& elements, ChunkCount* device_counts);

/// Compares chunks one by one: device_states[i * kChunk + k] is of element k of chunk device_chunks[i] of `elements`.
std::string classify_chunks(const ClosedForm& form, const void* data, const Interval& elements,
                            const int64_t* device_chunks, int64_t count, ElementState* device_states);

/// device_bits[i] = the bits of element device_elements[i].
std::string gather_bits(int64_t element_bytes, const void* data, const int64_t* device_elements, int64_t count,
                        uint64_t* device_bits);

}  // namespace brink
