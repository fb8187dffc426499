#include "graph_chain.h"

#include <cuda_runtime.h>

__global__ static void step_one(const std::uint32_t* x, std::uint32_t* y, std::uint32_t* s, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        std::uint32_t v = x[i] * 2654435761u + x[i == n - 1 ? 0 : i + 1];
        v = (v << 13) | (v >> 19);
        y[i] = v ^ x[i == 0 ? n - 1 : i - 1];
        atomicAdd(s, y[i]);
    }
}

__global__ static void step_two(const std::uint32_t* y, const std::uint32_t* s, std::uint32_t* x, int n, int t) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = (y[i] + *s) * 2246822519u + t;
}

void graph_chain(const std::uint32_t* start, std::uint32_t* ring, int size, int steps) {
    // No steps, nothing to do.
    if (size == 0 || steps == 0) return;
    std::uint32_t *y, *s;
    cudaMalloc(&y, size * sizeof(std::uint32_t));
    cudaMalloc(&s, steps * sizeof(std::uint32_t));
    cudaMemset(s, 0, steps * sizeof(std::uint32_t));
    const std::uint32_t* x = start;
    for (int t = 0; t < steps; t++) {
        step_one<<<128, 256>>>(x, y, s + t, size);
        step_two<<<128, 256>>>(y, s + t, ring, size, t);
        x = ring;
    }
    cudaDeviceSynchronize();
    cudaFree(y);
    cudaFree(s);
}
