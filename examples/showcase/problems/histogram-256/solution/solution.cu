#include "histogram.h"

#include <cuda_runtime.h>

namespace {

constexpr int threads = 256;
constexpr int blocks = 1024;

// Every block counts in shared memory first.
__global__ void count_bytes(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    __shared__ std::uint32_t found[256];
    found[threadIdx.x] = 0;
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * threads;
    for (std::size_t i = blockIdx.x * std::size_t{threads} + threadIdx.x; i < size; i += stride) {
        atomicAdd(&found[data[i]], 1u);
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], found[threadIdx.x]);
}

}  // namespace

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    cudaMemsetAsync(counts, 0, 256 * sizeof *counts);
    count_bytes<<<blocks, threads>>>(data, size, counts);
}
