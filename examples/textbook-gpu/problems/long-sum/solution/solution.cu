#include "long_sum.h"

constexpr int threads = 256;

__global__ static void add_up(const int* values, int count, unsigned long long* sum) {
    __shared__ long long sums[threads];
    long long mine = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) mine += values[i];
    sums[threadIdx.x] = mine;
    for (int distance = threads / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) sums[threadIdx.x] += sums[threadIdx.x + distance];
    }
    if (threadIdx.x == 0) atomicAdd(sum, static_cast<unsigned long long>(sums[0]));
}

void long_sum(const int* values, int count, long long* sum) {
    cudaMemset(sum, 0, sizeof *sum);
    add_up<<<128, threads>>>(values, count, reinterpret_cast<unsigned long long*>(sum));
}
