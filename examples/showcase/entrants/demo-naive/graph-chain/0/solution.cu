#include "graph_chain.h"

#include <cuda_runtime.h>

// One thread per cell, one kernel per formula.
__global__ static void compute_y(const std::uint32_t* x, std::uint32_t* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        std::uint32_t v = x[i] * 2654435761u + x[(i + 1) % n];
        y[i] = ((v << 13) | (v >> 19)) ^ x[(i + n - 1) % n];
    }
}

__global__ static void compute_s(const std::uint32_t* y, std::uint32_t* s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    std::uint32_t v = i < n ? y[i] : 0;
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(s, v);
}

__global__ static void compute_x(const std::uint32_t* y, const std::uint32_t* s, std::uint32_t* x, int n, int t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = (y[i] + *s) * 2246822519u + t;
}

void graph_chain(const std::uint32_t* start, std::uint32_t* ring, int size, int steps) {
    if (size == 0) return;
    std::uint32_t *y, *s;
    cudaMalloc(&y, size * sizeof(std::uint32_t));
    cudaMalloc(&s, sizeof(std::uint32_t));
    cudaMemcpy(ring, start, size * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice);
    int blocks = (size + 127) / 128;
    for (int t = 0; t < steps; t++) {
        cudaMemset(s, 0, sizeof(std::uint32_t));
        compute_y<<<blocks, 128>>>(ring, y, size);
        compute_s<<<blocks, 128>>>(y, s, size);
        compute_x<<<blocks, 128>>>(y, s, ring, size, t);
    }
    cudaFree(y);
    cudaFree(s);
}
