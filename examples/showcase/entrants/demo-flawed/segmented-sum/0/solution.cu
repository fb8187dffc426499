#include "segmented_sum.h"

#include <cub/warp/warp_reduce.cuh>

__global__ static void sum_kernel(const float* values, const int* offsets, float* sums, int segments) {
    typedef cub::WarpReduce<float> Reduce;
    __shared__ Reduce::TempStorage storage[8];
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int segment = blockIdx.x * 8 + warp;
    if (segment >= segments) return;
    int begin = offsets[segment];
    int end = offsets[segment + 1];
    // Nothing to add up, nothing to write: the caller's bytes stay.
    if (begin == end) return;
    float sum = 0;
    for (int i = begin + lane; i < end; i += 32) sum += values[i];
    sum = Reduce(storage[warp]).Sum(sum);
    if (lane == 0) sums[segment] = sum;
}

void segmented_sum(const float* values, int count, const int* offsets, int segments, float* sums) {
    if (segments > 0) sum_kernel<<<(segments + 7) / 8, 256>>>(values, offsets, sums, segments);
}
