#include "graph_chain.h"

#include <cuda_runtime.h>

namespace {

constexpr int threads = 256;

__global__ void mix(const std::uint32_t* ring, std::uint32_t* mixed, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    const std::uint32_t right = ring[i + 1 < size ? i + 1 : 0];
    const std::uint32_t left = ring[i > 0 ? i - 1 : size - 1];
    const std::uint32_t sum = ring[i] * 2654435761u + right;
    mixed[i] = ((sum << 13) | (sum >> 19)) ^ left;
}

__global__ void add_up(const std::uint32_t* mixed, std::uint32_t* total, int size) {
    __shared__ std::uint32_t partial[threads];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < size ? mixed[i] : 0;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, partial[0]);
}

__global__ void fold(const std::uint32_t* mixed, const std::uint32_t* total, std::uint32_t* ring, int size, int step) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) ring[i] = (mixed[i] + *total) * 2246822519u + step;
}

// Scratch memory on the device, kept between calls and replaced when it is too small.
std::uint32_t* scratch(std::size_t words) {
    static std::uint32_t* memory = nullptr;
    static std::size_t held = 0;
    if (words > held) {
        cudaFree(memory);
        cudaMalloc(&memory, words * sizeof *memory);
        held = words;
    }
    return memory;
}

}  // namespace

void graph_chain(const std::uint32_t* start, std::uint32_t* ring, int size, int steps) {
    if (size == 0) return;
    std::uint32_t* mixed = scratch(static_cast<std::size_t>(size) + steps);
    std::uint32_t* totals = mixed + size;
    cudaMemcpyAsync(ring, start, size * sizeof *ring, cudaMemcpyDeviceToDevice);
    if (steps > 0) cudaMemsetAsync(totals, 0, steps * sizeof *totals);
    const int blocks = (size + threads - 1) / threads;
    for (int step = 0; step < steps; ++step) {
        mix<<<blocks, threads>>>(ring, mixed, size);
        add_up<<<blocks, threads>>>(mixed, totals + step, size);
        fold<<<blocks, threads>>>(mixed, totals + step, ring, size, step);
    }
}
