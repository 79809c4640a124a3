#pragma once

// Kernel sources are compiled by the host compiler and by nvcc alike.
#if defined(__CUDACC__)
#define BRINK_HOST_DEVICE __host__ __device__
#else
#define BRINK_HOST_DEVICE
#endif
