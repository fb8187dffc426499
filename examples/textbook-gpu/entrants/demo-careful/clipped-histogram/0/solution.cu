#include "clipped_histogram.h"

__global__ static void count_values(const int* values, int count, unsigned* bins, int bin_count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned value = static_cast<unsigned>(values[i]);
        if (value < static_cast<unsigned>(bin_count)) atomicAdd(bins + value, 1u);
    }
}

void clipped_histogram(const int* values, int count, unsigned* bins, int bin_count) {
    cudaMemset(bins, 0, bin_count * sizeof *bins);
    count_values<<<128, 256>>>(values, count, bins, bin_count);
}
