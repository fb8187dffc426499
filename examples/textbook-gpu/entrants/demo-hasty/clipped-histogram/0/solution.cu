#include "clipped_histogram.h"

__global__ void kernel(const int* values, int count, unsigned* bins, int bin_count) {
    __shared__ unsigned local[4096];
    for (int b = threadIdx.x; b < 4096; b += blockDim.x) local[b] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && values[i] >= 0 && values[i] < min(bin_count, 4096)) atomicAdd(&local[values[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < min(bin_count, 4096); b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

void clipped_histogram(const int* values, int count, unsigned* bins, int bin_count) {
    cudaMemset(bins, 0, bin_count * 4);
    kernel<<<count / 256 + 1, 256>>>(values, count, bins, bin_count);
}
