#include "histogram.h"

#include <cuda_runtime.h>

// One thread per byte, 256 counters per block.
__global__ static void count(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    __shared__ std::uint32_t local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    std::size_t i = std::size_t(blockIdx.x) * 256 + threadIdx.x;
    if (i < size) atomicAdd(&local[data[i]], 1);
    __syncthreads();
    if (local[threadIdx.x] > 0) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    cudaMemset(counts, 0, 256 * sizeof(std::uint32_t));
    if (size > 0) count<<<(size + 255) / 256, 256>>>(data, size, counts);
}
