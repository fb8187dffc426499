#include "counting_sort.h"

constexpr int digits = 256;
constexpr int chunk = 512;

// counts[digit * chunks + c] = how often the digit occurs in chunk c.
__global__ static void count_digits(const std::uint8_t* keys, int count, int* counts, int chunks) {
    const int c = blockIdx.x;
    for (int digit = threadIdx.x; digit < digits; digit += blockDim.x) counts[digit * chunks + c] = 0;
    __syncthreads();
    for (int i = c * chunk + threadIdx.x; i < count && i < (c + 1) * chunk; i += blockDim.x) {
        atomicAdd(&counts[keys[i] * chunks + c], 1);
    }
}

// Turns counts into sums of all that come before.
__global__ static void scan_counts(int* counts, int size) {
    int sum = 0;
    for (int i = 0; i < size; ++i) {
        const int value = counts[i];
        counts[i] = sum;
        sum += value;
    }
}

__global__ static void scatter(const std::uint8_t* keys, const int* items, int count, int* places, int chunks,
                               std::uint8_t* sorted_keys, int* sorted_items) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = c * chunk; i < count && i < (c + 1) * chunk; ++i) {
        const int to = places[keys[i] * chunks + c]++;
        sorted_keys[to] = keys[i];
        sorted_items[to] = items[i];
    }
}

void counting_sort(const std::uint8_t* keys, const int* items, int count, std::uint8_t* sorted_keys, int* sorted_items) {
    const int chunks = (count + chunk - 1) / chunk;
    if (chunks == 0) return;
    int* counts = nullptr;
    cudaMalloc(&counts, chunks * digits * sizeof *counts);
    count_digits<<<chunks, 256>>>(keys, count, counts, chunks);
    scan_counts<<<1, 1>>>(counts, chunks * digits);
    scatter<<<(chunks + 31) / 32, 32>>>(keys, items, count, counts, chunks, sorted_keys, sorted_items);
    cudaFree(counts);
}
