#include "long_sum.h"

__global__ static void add_up(const int* values, int count, unsigned long long* sum) {
    long long mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine += values[i];
    for (int distance = 16; distance > 0; distance /= 2) mine += __shfl_down_sync(0xffffffffu, mine, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, static_cast<unsigned long long>(mine));
}

void long_sum(const int* values, int count, long long* sum) {
    cudaMemset(sum, 0, sizeof *sum);
    add_up<<<64, 256>>>(values, count, reinterpret_cast<unsigned long long*>(sum));
}
