#include "histogram.h"

#include <cuda_runtime.h>

// Four bytes at once. Takes it for granted that the data starts where a word may start.
__global__ static void count(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    __shared__ std::uint32_t local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    const std::uint32_t* words = (const std::uint32_t*)data;
    std::size_t first = std::size_t(blockIdx.x) * 256 + threadIdx.x;
    for (std::size_t i = first; i < size / 4; i += std::size_t(gridDim.x) * 256) {
        std::uint32_t word = words[i];
        for (int k = 0; k < 4; k++) atomicAdd(&local[(word >> (8 * k)) & 255], 1u);
    }
    if (first < size % 4) atomicAdd(&local[data[size / 4 * 4 + first]], 1u);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    cudaMemset(counts, 0, 256 * sizeof(std::uint32_t));
    count<<<1024, 256>>>(data, size, counts);
}
