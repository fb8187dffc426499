#include "exclusive_scan.h"

constexpr int threads = 256;

// Sums inside of a block, and the sum of each block.
__global__ static void scan_blocks(const int* values, long long* sums, long long* block_sums, int count) {
    __shared__ long long inclusive[threads];
    const int i = blockIdx.x * threads + threadIdx.x;
    const long long value = i < count ? values[i] : 0;
    inclusive[threadIdx.x] = value;
    for (int distance = 1; distance < threads; distance *= 2) {
        __syncthreads();
        const long long before = threadIdx.x >= distance ? inclusive[threadIdx.x - distance] : 0;
        __syncthreads();
        inclusive[threadIdx.x] += before;
    }
    if (i < count) sums[i] = inclusive[threadIdx.x] - value;
    if (threadIdx.x == threads - 1) block_sums[blockIdx.x] = inclusive[threadIdx.x];
}

__global__ static void scan_sums(long long* block_sums, int blocks) {
    long long sum = 0;
    for (int i = 0; i < blocks; ++i) {
        const long long value = block_sums[i];
        block_sums[i] = sum;
        sum += value;
    }
}

__global__ static void add_sums(long long* sums, const long long* block_sums, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) sums[i] += block_sums[blockIdx.x];
}

void exclusive_scan(const int* values, long long* sums, int count) {
    const int blocks = (count + threads - 1) / threads;
    if (blocks == 0) return;
    long long* block_sums = nullptr;
    cudaMalloc(&block_sums, blocks * sizeof *block_sums);
    scan_blocks<<<blocks, threads>>>(values, sums, block_sums, count);
    scan_sums<<<1, 1>>>(block_sums, blocks);
    add_sums<<<blocks, threads>>>(sums, block_sums, count);
    cudaFree(block_sums);
}
