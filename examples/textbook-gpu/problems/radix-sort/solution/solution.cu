#include "radix_sort.h"

constexpr int digits = 256;
constexpr int chunk = 512;

// With the sign's bit turned, the order of bits is the order of values.
__device__ static int digit_of(int value, int shift) {
    return static_cast<int>(((static_cast<unsigned>(value) ^ 0x80000000u) >> shift) & (digits - 1));
}

// counts[digit * chunks + c] = how often the digit occurs in chunk c.
__global__ static void count_digits(const int* values, int count, int shift, int* counts, int chunks) {
    const int c = blockIdx.x;
    for (int digit = threadIdx.x; digit < digits; digit += blockDim.x) counts[digit * chunks + c] = 0;
    __syncthreads();
    for (int i = c * chunk + threadIdx.x; i < count && i < (c + 1) * chunk; i += blockDim.x) {
        atomicAdd(&counts[digit_of(values[i], shift) * chunks + c], 1);
    }
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
    for (int i = c * chunk; i < count && i < (c + 1) * chunk; ++i) {
        sorted[places[digit_of(values[i], shift) * chunks + c]++] = values[i];
    }
}

void radix_sort(const int* values, int* sorted, int count) {
    const int chunks = (count + chunk - 1) / chunk;
    if (chunks == 0) return;
    int* counts = nullptr;
    int* other = nullptr;
    cudaMalloc(&counts, chunks * digits * sizeof *counts);
    cudaMalloc(&other, count * sizeof *other);
    for (int shift = 0; shift < 32; shift += 8) {
        const int* from = shift == 0 ? values : shift % 16 == 8 ? other : sorted;
        int* to = shift % 16 == 0 ? other : sorted;
        count_digits<<<chunks, 256>>>(from, count, shift, counts, chunks);
        scan_counts<<<1, 1>>>(counts, chunks * digits);
        scatter<<<(chunks + 31) / 32, 32>>>(from, count, shift, counts, chunks, to);
    }
    cudaFree(counts);
    cudaFree(other);
}
