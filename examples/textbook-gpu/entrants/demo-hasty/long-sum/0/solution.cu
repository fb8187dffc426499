#include "long_sum.h"

__global__ void kernel(const int* values, int count, int* partial) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(partial, values[i]);
}

__global__ void widen(const int* partial, long long* sum) { *sum = *partial; }

void long_sum(const int* values, int count, long long* sum) {
    int* partial;
    cudaMalloc(&partial, 4);
    cudaMemset(partial, 0, 4);
    kernel<<<count / 256 + 1, 256>>>(values, count, partial);
    widen<<<1, 1>>>(partial, sum);
    cudaFree(partial);
}
