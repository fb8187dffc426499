#include "weighted_histogram.h"

__global__ static void add_weights(const std::uint8_t* keys, const std::uint32_t* weights, int count, unsigned long long* sums) {
    __shared__ unsigned long long ours[256];
    ours[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        atomicAdd(&ours[keys[i]], static_cast<unsigned long long>(weights[i]));
    }
    __syncthreads();
    atomicAdd(&sums[threadIdx.x], ours[threadIdx.x]);
}

void weighted_histogram(const std::uint8_t* keys, const std::uint32_t* weights, int count, unsigned long long* sums) {
    cudaMemset(sums, 0, 256 * sizeof *sums);
    add_weights<<<64, 256>>>(keys, weights, count, sums);
}
