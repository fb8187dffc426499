#include "careful_sum.h"

__global__ static void add_up(const float* values, int count, double* total) {
    double mine = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine += values[i];
    for (int distance = 16; distance > 0; distance /= 2) mine += __shfl_down_sync(0xffffffffu, mine, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(total, mine);
}

__global__ static void narrow(const double* total, float* sum) { *sum = static_cast<float>(*total); }

void careful_sum(const float* values, int count, float* sum) {
    double* total = nullptr;
    cudaMalloc(&total, sizeof *total);
    cudaMemset(total, 0, sizeof *total);
    add_up<<<64, 256>>>(values, count, total);
    narrow<<<1, 1>>>(total, sum);
    cudaFree(total);
}
