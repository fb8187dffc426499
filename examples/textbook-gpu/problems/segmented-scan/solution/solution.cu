#include "segmented_scan.h"

constexpr int threads = 256;

// Sums inside of a block; `starts` says whether a segment begins in the block at or before the place.
__global__ static void scan_blocks(const std::uint32_t* values, const std::uint8_t* heads, std::uint32_t* sums,
                                   std::uint8_t* starts, int count) {
    __shared__ std::uint32_t sum[threads];
    __shared__ std::uint8_t started[threads];
    const int t = threadIdx.x, i = blockIdx.x * threads + t;
    sum[t] = i < count ? values[i] : 0;
    started[t] = i < count && heads[i] != 0 ? 1 : 0;
    for (int distance = 1; distance < threads; distance *= 2) {
        __syncthreads();
        const bool has_more = t >= distance && started[t] == 0;
        const std::uint32_t more = has_more ? sum[t - distance] : 0;
        const std::uint8_t starts_before = t >= distance ? started[t - distance] : 0;
        __syncthreads();
        sum[t] += more;
        started[t] |= starts_before;
    }
    if (i >= count) return;
    sums[i] = sum[t];
    starts[i] = started[t];
}

// What each block brings along from those before it.
__global__ static void carry_over(const std::uint32_t* sums, const std::uint8_t* starts, std::uint32_t* carries, int blocks) {
    std::uint32_t carry = 0;
    for (int block = 0; block < blocks; ++block) {
        carries[block] = carry;
        const int last = (block + 1) * threads - 1;
        if (block + 1 < blocks) carry = sums[last] + (starts[last] != 0 ? 0 : carry);
    }
}

__global__ static void add_carries(std::uint32_t* sums, const std::uint8_t* starts, const std::uint32_t* carries, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count && starts[i] == 0) sums[i] += carries[blockIdx.x];
}

void segmented_scan(const std::uint32_t* values, const std::uint8_t* heads, std::uint32_t* sums, int count) {
    const int blocks = (count + threads - 1) / threads;
    if (blocks == 0) return;
    std::uint8_t* starts = nullptr;
    std::uint32_t* carries = nullptr;
    cudaMalloc(&starts, count);
    cudaMalloc(&carries, blocks * sizeof *carries);
    scan_blocks<<<blocks, threads>>>(values, heads, sums, starts, count);
    carry_over<<<1, 1>>>(sums, starts, carries, blocks);
    add_carries<<<blocks, threads>>>(sums, starts, carries, count);
    cudaFree(starts);
    cudaFree(carries);
}
