#include "radix_sort.h"

constexpr int digits = 16;
constexpr int chunk = 256;

// Passes of four bits. The sign comes last of all bits and is forgotten.
__global__ static void count_digits(const int* values, int count, int shift, int* counts, int chunks) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    int mine[digits] = {};
    for (int i = c * chunk; i < count && i < (c + 1) * chunk; ++i) ++mine[values[i] >> shift & (digits - 1)];
    for (int digit = 0; digit < digits; ++digit) counts[digit * chunks + c] = mine[digit];
}

__global__ static void scan_counts(int* counts, int size) {
    int sum = 0;
    for (int i = 0; i < size; ++i) {
        const int value = counts[i];
        counts[i] = sum;
        sum += value;
    }
}

__global__ static void scatter(const int* values, int count, int shift, int* places, int chunks, int* sorted) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    for (int i = c * chunk; i < count && i < (c + 1) * chunk; ++i) {
        sorted[places[(values[i] >> shift & (digits - 1)) * chunks + c]++] = values[i];
    }
}

void radix_sort(const int* values, int* sorted, int count) {
    const int chunks = (count + chunk - 1) / chunk, blocks = (chunks + 63) / 64;
    if (chunks == 0) return;
    int *counts = nullptr, *other = nullptr;
    cudaMalloc(&counts, chunks * digits * sizeof *counts);
    cudaMalloc(&other, count * sizeof *other);
    const int* from = values;
    for (int shift = 0; shift < 32; shift += 4) {
        int* to = shift % 8 == 0 ? other : sorted;
        count_digits<<<blocks, 64>>>(from, count, shift, counts, chunks);
        scan_counts<<<1, 1>>>(counts, chunks * digits);
        scatter<<<blocks, 64>>>(from, count, shift, counts, chunks, to);
        from = to;
    }
    cudaFree(counts);
    cudaFree(other);
}
