#pragma once

#include <cuda_runtime_api.h>

#include <string>

// For this folder and properties/cuda alone: needs CUDA's headers.

namespace brink {

/// "what: CUDA's words for the error", or nothing where there is none.
inline std::string cuda_failure(const char* what, cudaError_t error) {
  if (error == cudaSuccess) return {};
  return std::string(what) + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")";
}

}  // namespace brink
