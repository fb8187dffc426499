#include "exclusive_scan.h"

constexpr int chunk = 256;

__global__ static void add_chunks(const int* values, long long* chunk_sums, int count, int chunks) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    long long sum = 0;
    for (int i = c * chunk; i < count && i < (c + 1) * chunk; ++i) sum += values[i];
    chunk_sums[c] = sum;
}

__global__ static void scan_chunk_sums(long long* chunk_sums, int chunks) {
    long long before = 0;
    for (int c = 0; c < chunks; ++c) {
        const long long sum = chunk_sums[c];
        chunk_sums[c] = before;
        before += sum;
    }
}

__global__ static void scan_chunks(const int* values, long long* sums, const long long* chunk_sums, int count, int chunks) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    long long before = chunk_sums[c];
    for (int i = c * chunk; i < count && i < (c + 1) * chunk; ++i) {
        sums[i] = before;
        before += values[i];
    }
}

void exclusive_scan(const int* values, long long* sums, int count) {
    const int chunks = (count + chunk - 1) / chunk, blocks = (chunks + 63) / 64;
    if (chunks == 0) return;
    long long* chunk_sums = nullptr;
    cudaMalloc(&chunk_sums, chunks * sizeof *chunk_sums);
    add_chunks<<<blocks, 64>>>(values, chunk_sums, count, chunks);
    scan_chunk_sums<<<1, 1>>>(chunk_sums, chunks);
    scan_chunks<<<blocks, 64>>>(values, sums, chunk_sums, count, chunks);
    cudaFree(chunk_sums);
}
