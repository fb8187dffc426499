// Thirty-two copies of every counter, one per lane: a lane's counters lie in a bank of their own, so that the lanes of
// a warp never collide, whatever the data.
#include "histogram.h"

#include <cuda_runtime.h>

namespace {

constexpr int threads = 512;
constexpr int copies = 32;

__device__ __forceinline__ void count_word(std::uint32_t* lane_counters, std::uint32_t word) {
#pragma unroll
    for (int shift = 0; shift < 32; shift += 8) atomicAdd(lane_counters + (word >> shift & 0xff) * copies, 1u);
}

__global__ void __launch_bounds__(threads)
    count_bytes(const std::uint8_t* data, std::size_t size, std::size_t head, std::uint32_t* counts) {
    __shared__ std::uint32_t counters[256 * copies];
    for (int i = threadIdx.x; i < 256 * copies; i += threads) counters[i] = 0;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    std::uint32_t* mine = counters + lane;
    const std::size_t quads = (size - head) / 16;
    const uint4* wide = reinterpret_cast<const uint4*>(data + head);
    const std::size_t first = blockIdx.x * std::size_t{threads} + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.x} * threads;
#pragma unroll 4
    for (std::size_t i = first; i < quads; i += stride) {
        const uint4 quad = __ldcs(wide + i);
        count_word(mine, quad.x);
        count_word(mine, quad.y);
        count_word(mine, quad.z);
        count_word(mine, quad.w);
    }
    if (first < head) atomicAdd(mine + data[first] * copies, 1u);
    const std::size_t tail = head + 16 * quads + first;
    if (tail < size) atomicAdd(mine + data[tail] * copies, 1u);
    __syncthreads();
    for (int value = threadIdx.x / 32; value < 256; value += threads / 32) {
        const std::uint32_t sum = __reduce_add_sync(0xffffffffu, counters[value * copies + lane]);
        if (lane == 0 && sum != 0) atomicAdd(counts + value, sum);
    }
}

}  // namespace

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    cudaMemsetAsync(counts, 0, 256 * sizeof *counts);
    if (size == 0) return;
    std::size_t head = (16 - reinterpret_cast<std::size_t>(data) % 16) % 16;
    if (head > size) head = size;
    const std::size_t wanted = size / (16 * threads) + 1;
    const unsigned int blocks = wanted < 528 ? static_cast<unsigned int>(wanted) : 528u;
    count_bytes<<<blocks, threads>>>(data, size, head, counts);
}
