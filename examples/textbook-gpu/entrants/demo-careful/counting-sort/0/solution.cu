#include "counting_sort.h"

// One thread for each key: it collects the items of its key in their order.
__global__ static void count_keys(const std::uint8_t* keys, int count, int* counts) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) atomicAdd(&counts[keys[i]], 1);
}

__global__ static void collect(const std::uint8_t* keys, const int* items, int count, const int* counts,
                               std::uint8_t* sorted_keys, int* sorted_items) {
    int to = 0;
    for (int key = 0; key < threadIdx.x; ++key) to += counts[key];
    for (int i = 0; i < count; ++i) {
        if (keys[i] != threadIdx.x) continue;
        sorted_keys[to] = keys[i];
        sorted_items[to++] = items[i];
    }
}

void counting_sort(const std::uint8_t* keys, const int* items, int count, std::uint8_t* sorted_keys, int* sorted_items) {
    int* counts = nullptr;
    cudaMalloc(&counts, 256 * sizeof *counts);
    cudaMemset(counts, 0, 256 * sizeof *counts);
    count_keys<<<64, 256>>>(keys, count, counts);
    collect<<<1, 256>>>(keys, items, count, counts, sorted_keys, sorted_items);
    cudaFree(counts);
}
