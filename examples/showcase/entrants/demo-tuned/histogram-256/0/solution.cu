// Sixteen bytes a load and counters of its own for every warp; equal neighbours are added together.
#include "histogram.h"

#include <cuda_runtime.h>

namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int loads_in_flight = 4;

__device__ __forceinline__ void count_word(std::uint32_t* found, std::uint32_t word) {
    if (word == __funnelshift_l(word, word, 8)) {
        atomicAdd(found + (word & 0xff), 4u);
        return;
    }
#pragma unroll
    for (int shift = 0; shift < 32; shift += 8) atomicAdd(found + (word >> shift & 0xff), 1u);
}

__device__ __forceinline__ void count_quad(std::uint32_t* found, uint4 quad) {
    count_word(found, quad.x);
    count_word(found, quad.y);
    count_word(found, quad.z);
    count_word(found, quad.w);
}

// `data` up to its first multiple of sixteen bytes and what is left behind the last is counted byte by byte.
__global__ void __launch_bounds__(threads)
    count_bytes(const std::uint8_t* data, std::size_t size, std::size_t head, std::uint32_t* counts) {
    __shared__ std::uint32_t found[warps][256];
    for (int i = threadIdx.x; i < warps * 256; i += threads) found[i / 256][i % 256] = 0;
    __syncthreads();
    std::uint32_t* mine = found[threadIdx.x / 32];
    const std::size_t quads = (size - head) / 16;
    const uint4* wide = reinterpret_cast<const uint4*>(data + head);
    const std::size_t first = blockIdx.x * std::size_t{threads} + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.x} * threads;
    std::size_t i = first;
    for (; i + (loads_in_flight - 1) * stride < quads; i += loads_in_flight * stride) {
        uint4 loaded[loads_in_flight];
#pragma unroll
        for (int k = 0; k < loads_in_flight; ++k) loaded[k] = __ldcs(wide + i + k * stride);
#pragma unroll
        for (int k = 0; k < loads_in_flight; ++k) count_quad(mine, loaded[k]);
    }
    for (; i < quads; i += stride) count_quad(mine, __ldcs(wide + i));
    if (first < head) atomicAdd(mine + data[first], 1u);
    const std::size_t tail = head + 16 * quads + first;
    if (tail < size) atomicAdd(mine + data[tail], 1u);
    __syncthreads();
    std::uint32_t sum = 0;
#pragma unroll
    for (int warp = 0; warp < warps; ++warp) sum += found[warp][threadIdx.x];
    if (sum != 0) atomicAdd(counts + threadIdx.x, sum);
}

}  // namespace

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    cudaMemsetAsync(counts, 0, 256 * sizeof *counts);
    if (size == 0) return;
    std::size_t head = (16 - reinterpret_cast<std::size_t>(data) % 16) % 16;
    if (head > size) head = size;
    const std::size_t wanted = size / (16 * threads * loads_in_flight) + 1;
    const unsigned int blocks = wanted < 1056 ? static_cast<unsigned int>(wanted) : 1056u;
    count_bytes<<<blocks, threads>>>(data, size, head, counts);
}
