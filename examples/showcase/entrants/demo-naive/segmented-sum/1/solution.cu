#include "segmented_sum.h"

#include <cub/block/block_reduce.cuh>

// Each segment is one block's.
__global__ static void sum_kernel(const float* values, const int* offsets, float* sums) {
    typedef cub::BlockReduce<float, 128> Reduce;
    __shared__ Reduce::TempStorage storage;
    int begin = offsets[blockIdx.x];
    int end = offsets[blockIdx.x + 1];
    float sum = 0;
    for (int i = begin + threadIdx.x; i < end; i += 128) sum += values[i];
    sum = Reduce(storage).Sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

void segmented_sum(const float* values, int count, const int* offsets, int segments, float* sums) {
    if (segments > 0) sum_kernel<<<segments, 128>>>(values, offsets, sums);
}
