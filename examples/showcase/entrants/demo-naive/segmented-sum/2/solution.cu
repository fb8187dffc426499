#include "segmented_sum.h"

#include <cub/warp/warp_reduce.cuh>

// Each segment is one warp's. The last warps may find no segment left.
__global__ static void sum_kernel(const float* values, const int* offsets, float* sums, int segments) {
    typedef cub::WarpReduce<float> Reduce;
    __shared__ Reduce::TempStorage storage[4];
    int warp = threadIdx.x / 32;
    int segment = blockIdx.x * 4 + warp;
    if (segment > segments) return;
    float sum = 0;
    for (int i = offsets[segment] + threadIdx.x % 32; i < offsets[segment + 1]; i += 32) sum += values[i];
    sum = Reduce(storage[warp]).Sum(sum);
    if (threadIdx.x % 32 == 0) sums[segment] = sum;
}

void segmented_sum(const float* values, int count, const int* offsets, int segments, float* sums) {
    if (segments > 0) sum_kernel<<<(segments + 3) / 4, 128>>>(values, offsets, sums, segments);
}
