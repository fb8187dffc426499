#include "graph_chain.h"

#include <vector>

#include <cuda_runtime.h>

// The sum of each step goes by way of the host, which adds up what the blocks found.
constexpr int block_size = 256;

__global__ static void mix(const std::uint32_t* x, std::uint32_t* y, std::uint32_t* block_sums, int n) {
    __shared__ std::uint32_t sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        std::uint32_t v = x[i] * 2654435761u + x[(i + 1) % n];
        y[i] = ((v << 13) | (v >> 19)) ^ x[(i + n - 1) % n];
        atomicAdd(&sum, y[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) block_sums[blockIdx.x] = sum;
}

__global__ static void fold(const std::uint32_t* y, std::uint32_t s, std::uint32_t* x, int n, std::uint32_t t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = (y[i] + s) * 2246822519u + t;
}

void graph_chain(const std::uint32_t* start, std::uint32_t* ring, int size, int steps) {
    if (size == 0) return;
    int blocks = (size + block_size - 1) / block_size;
    std::vector<std::uint32_t> sums(blocks);
    std::uint32_t *y, *block_sums;
    cudaMalloc(&y, size * sizeof(std::uint32_t));
    cudaMalloc(&block_sums, blocks * sizeof(std::uint32_t));
    cudaMemcpy(ring, start, size * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice);
    for (int t = 0; t < steps; t++) {
        mix<<<blocks, block_size>>>(ring, y, block_sums, size);
        cudaMemcpy(sums.data(), block_sums, blocks * sizeof(std::uint32_t), cudaMemcpyDeviceToHost);
        std::uint32_t s = 0;
        for (std::uint32_t sum : sums) s += sum;
        fold<<<blocks, block_size>>>(y, s, ring, size, t);
    }
    cudaFree(y);
    cudaFree(block_sums);
}
