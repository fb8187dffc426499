#include "sort_pairs.h"

#include <thrust/device_ptr.h>
#include <thrust/scan.h>

// Radix sort with four bits a pass. Each thread counts and later moves 64 neighbouring pairs.
constexpr int chunk = 64;
constexpr int digits = 16;

__global__ static void count_digits(const std::uint32_t* keys, int n, int shift, int* counts, int chunks) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= chunks) return;
    int mine[digits] = {0};
    for (int i = thread * chunk; i < n && i < (thread + 1) * chunk; i++) mine[(keys[i] >> shift) % digits]++;
    for (int digit = 0; digit < digits; digit++) counts[digit * chunks + thread] = mine[digit];
}

__global__ static void move_pairs(const std::uint32_t* keys, const std::uint32_t* values, std::uint32_t* new_keys,
                                  std::uint32_t* new_values, int n, int shift, const int* starts, int chunks) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= chunks) return;
    int next[digits];
    for (int digit = 0; digit < digits; digit++) next[digit] = starts[digit * chunks + thread];
    for (int i = thread * chunk; i < n && i < (thread + 1) * chunk; i++) {
        int to = next[(keys[i] >> shift) % digits]++;
        new_keys[to] = keys[i];
        new_values[to] = values[i];
    }
}

void sort_pairs(const std::uint32_t* keys_in, const std::uint32_t* values_in, std::uint32_t* keys_out,
                std::uint32_t* values_out, int count) {
    if (count == 0) return;
    int chunks = (count + chunk - 1) / chunk;
    int blocks = (chunks + 127) / 128;
    std::uint32_t *keys_tmp, *values_tmp;
    int* counts;
    cudaMalloc(&keys_tmp, count * sizeof(std::uint32_t));
    cudaMalloc(&values_tmp, count * sizeof(std::uint32_t));
    cudaMalloc(&counts, digits * chunks * sizeof(int));
    auto starts = thrust::device_pointer_cast(counts);
    const std::uint32_t* from_keys = keys_in;
    const std::uint32_t* from_values = values_in;
    for (int pass = 0; pass < 8; pass++) {
        std::uint32_t* to_keys = pass % 2 == 0 ? keys_tmp : keys_out;
        std::uint32_t* to_values = pass % 2 == 0 ? values_tmp : values_out;
        count_digits<<<blocks, 128>>>(from_keys, count, 4 * pass, counts, chunks);
        thrust::exclusive_scan(starts, starts + digits * chunks, starts);
        move_pairs<<<blocks, 128>>>(from_keys, from_values, to_keys, to_values, count, 4 * pass, counts, chunks);
        from_keys = to_keys;
        from_values = to_values;
    }
    cudaFree(keys_tmp);
    cudaFree(values_tmp);
    cudaFree(counts);
}
