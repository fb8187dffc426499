// No atomics on the way: every thread has 256 counters of eight bits in shared memory, a column of words of its own.
// After 240 bytes, before any can overflow, the block folds them into registers.
#include "histogram.h"

#include <cuda_runtime.h>

namespace {

constexpr int threads = 128;
constexpr int rows = 64;  // Of one word a thread: four counters.
constexpr int quads_a_round = 15;

__device__ __forceinline__ void count_word(std::uint8_t* column, std::uint32_t word) {
#pragma unroll
    for (int shift = 0; shift < 32; shift += 8) {
        const std::uint32_t value = word >> shift & 0xff;
        ++column[(value / 4) * (4 * threads) + value % 4];
    }
}

// Thread t adds up words [t / 2][t % 2 * 64 ..] and clears them; lanes start at different words, hence banks.
__device__ __forceinline__ void fold(std::uint32_t* words, std::uint32_t (&sums)[4]) {
    std::uint32_t* row = words + threadIdx.x / 2 * threads + threadIdx.x % 2 * (threads / 2);
    std::uint32_t even = 0, odd = 0;
#pragma unroll 8
    for (int k = 0; k < threads / 2; ++k) {
        const int at = (k + threadIdx.x) % (threads / 2);
        const std::uint32_t word = row[at];
        row[at] = 0;
        even += word & 0x00ff00ffu;
        odd += word >> 8 & 0x00ff00ffu;
    }
    sums[0] += even & 0xffffu;
    sums[1] += odd & 0xffffu;
    sums[2] += even >> 16;
    sums[3] += odd >> 16;
}

__global__ void __launch_bounds__(threads)
    count_bytes(const std::uint8_t* data, std::size_t size, std::size_t head, std::uint32_t* counts) {
    __shared__ std::uint32_t words[rows * threads];
    for (int i = threadIdx.x; i < rows * threads; i += threads) words[i] = 0;
    __syncthreads();
    std::uint8_t* column = reinterpret_cast<std::uint8_t*>(words + threadIdx.x);
    const std::size_t quads = (size - head) / 16;
    const uint4* wide = reinterpret_cast<const uint4*>(data + head);
    const std::size_t stride = std::size_t{gridDim.x} * threads;
    const std::size_t first = blockIdx.x * std::size_t{threads} + threadIdx.x;
    const std::size_t rounds = (quads + stride * quads_a_round - 1) / (stride * quads_a_round);
    std::uint32_t sums[4] = {};
    for (std::size_t round = 0; round < rounds; ++round) {
#pragma unroll 5
        for (int k = 0; k < quads_a_round; ++k) {
            const std::size_t i = (round * quads_a_round + k) * stride + first;
            if (i < quads) {
                const uint4 quad = __ldcs(wide + i);
                count_word(column, quad.x);
                count_word(column, quad.y);
                count_word(column, quad.z);
                count_word(column, quad.w);
            }
        }
        __syncthreads();
        fold(words, sums);
        __syncthreads();
    }
    const int value = threadIdx.x / 2 * 4;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        if (sums[k] != 0) atomicAdd(counts + value + k, sums[k]);
    }
    if (first < head) atomicAdd(counts + data[first], 1u);
    const std::size_t tail = head + 16 * quads + first;
    if (tail < size) atomicAdd(counts + data[tail], 1u);
}

}  // namespace

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    cudaMemsetAsync(counts, 0, 256 * sizeof *counts);
    if (size == 0) return;
    std::size_t head = (16 - reinterpret_cast<std::size_t>(data) % 16) % 16;
    if (head > size) head = size;
    const std::size_t wanted = size / (16 * threads) + 1;
    const unsigned int blocks = wanted < 924 ? static_cast<unsigned int>(wanted) : 924u;
    count_bytes<<<blocks, threads>>>(data, size, head, counts);
}
