#include "weighted_histogram.h"

__global__ void kernel(const std::uint8_t* keys, const std::uint32_t* weights, int count, unsigned long long* sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&sums[keys[i]], (unsigned long long)(int)weights[i]);
}

void weighted_histogram(const std::uint8_t* keys, const std::uint32_t* weights, int count, unsigned long long* sums) {
    cudaMemset(sums, 0, 256 * sizeof(unsigned long long));
    kernel<<<count / 256 + 1, 256>>>(keys, weights, count, sums);
}
