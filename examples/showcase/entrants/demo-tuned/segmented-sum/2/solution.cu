// Sixteen threads per segment, four loads in flight each, CUB for the last steps of the reduction.
#include "segmented_sum.h"

#include <cub/warp/warp_reduce.cuh>
#include <cuda_runtime.h>

namespace {

constexpr int threads = 256;
constexpr int width = 16;
constexpr int groups = threads / width;

__global__ void __launch_bounds__(threads)
    sum_by_groups(const float* __restrict__ values, const int* __restrict__ offsets, float* __restrict__ sums,
                  int segments) {
    using Reduce = cub::WarpReduce<float, width>;
    __shared__ Reduce::TempStorage storage[groups];
    const int group = threadIdx.x / width;
    const int lane = threadIdx.x % width;
    const int segment = blockIdx.x * groups + group;
    const bool there = segment < segments;
    const int end = there ? offsets[segment + 1] : 0;
    int i = there ? offsets[segment] + lane : 0;
    float parts[4] = {};
    for (; i + 3 * width < end; i += 4 * width) {
#pragma unroll
        for (int k = 0; k < 4; ++k) parts[k] += __ldcs(values + i + k * width);
    }
    for (; i < end; i += width) parts[0] += __ldcs(values + i);
    __syncwarp();
    const float sum = Reduce(storage[group]).Sum((parts[0] + parts[1]) + (parts[2] + parts[3]));
    if (there && lane == 0) sums[segment] = sum;
}

}  // namespace

void segmented_sum(const float* values, int, const int* offsets, int segments, float* sums) {
    if (segments == 0) return;
    sum_by_groups<<<(segments + groups - 1) / groups, threads>>>(values, offsets, sums, segments);
}
