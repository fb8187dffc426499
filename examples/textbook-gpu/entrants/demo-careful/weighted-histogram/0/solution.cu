#include "weighted_histogram.h"

__global__ static void add_weights(const std::uint8_t* keys, const std::uint32_t* weights, int count, unsigned long long* sums) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&sums[keys[i]], static_cast<unsigned long long>(weights[i]));
}

void weighted_histogram(const std::uint8_t* keys, const std::uint32_t* weights, int count, unsigned long long* sums) {
    cudaMemset(sums, 0, 256 * sizeof *sums);
    if (count > 0) add_weights<<<(count + 255) / 256, 256>>>(keys, weights, count, sums);
}
