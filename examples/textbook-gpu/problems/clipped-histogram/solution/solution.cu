#include "clipped_histogram.h"

__global__ static void clear(unsigned* bins, int bin_count) {
    const int bin = blockIdx.x * blockDim.x + threadIdx.x;
    if (bin < bin_count) bins[bin] = 0;
}

__global__ static void count_values(const int* values, int count, unsigned* bins, int bin_count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && values[i] >= 0 && values[i] < bin_count) atomicAdd(&bins[values[i]], 1u);
}

void clipped_histogram(const int* values, int count, unsigned* bins, int bin_count) {
    clear<<<(bin_count + 255) / 256, 256>>>(bins, bin_count);
    if (count > 0) count_values<<<(count + 255) / 256, 256>>>(values, count, bins, bin_count);
}
