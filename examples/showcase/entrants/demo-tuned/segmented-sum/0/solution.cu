// One warp per segment with wide loads; segments of more than 4,096 values go to a list, which blocks then take up.
#include "segmented_sum.h"

#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda_runtime.h>

namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int long_segment = 4096;
constexpr int blocks_for_long_segments = 1056;

// The sum of values[begin] .. values[end - 1] over `width` threads, of which this one is the `lane`-th.
__device__ __forceinline__ float strided_sum(const float* values, int begin, int end, int lane, int width) {
    const int misaligned = static_cast<int>(reinterpret_cast<std::size_t>(values + begin) / sizeof(float) % 4);
    const int head = min(end, begin + (4 - misaligned) % 4);
    float sum = begin + lane < head ? values[begin + lane] : 0.0f;
    const int quads = (end - head) / 4;
    const float4* wide = reinterpret_cast<const float4*>(values + head);
#pragma unroll 4
    for (int i = lane; i < quads; i += width) {
        const float4 quad = __ldcs(wide + i);
        sum += (quad.x + quad.y) + (quad.z + quad.w);
    }
    const int tail = head + 4 * quads + lane;
    return tail < end ? sum + values[tail] : sum;
}

__global__ void __launch_bounds__(threads)
    sum_by_warps(const float* values, const int* offsets, float* sums, int segments, int* list) {
    using Reduce = cub::WarpReduce<float>;
    __shared__ Reduce::TempStorage storage[warps];
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int segment = blockIdx.x * warps + warp;
    if (segment >= segments) return;
    const int begin = offsets[segment];
    const int end = offsets[segment + 1];
    if (end - begin > long_segment) {
        if (lane == 0) list[1 + atomicAdd(list, 1)] = segment;
        return;
    }
    const float sum = Reduce(storage[warp]).Sum(strided_sum(values, begin, end, lane, 32));
    if (lane == 0) sums[segment] = sum;
}

__global__ void __launch_bounds__(threads)
    sum_by_blocks(const float* values, const int* offsets, float* sums, const int* list) {
    using Reduce = cub::BlockReduce<float, threads>;
    __shared__ Reduce::TempStorage storage;
    for (int i = blockIdx.x; i < list[0]; i += gridDim.x) {
        const int segment = list[1 + i];
        const float mine = strided_sum(values, offsets[segment], offsets[segment + 1], threadIdx.x, threads);
        const float sum = Reduce(storage).Sum(mine);
        if (threadIdx.x == 0) sums[segment] = sum;
        __syncthreads();
    }
}

int* scratch(std::size_t words) {
    static int* memory = nullptr;
    static std::size_t held = 0;
    if (words > held) {
        cudaFree(memory);
        cudaMalloc(&memory, words * sizeof *memory);
        held = words;
    }
    return memory;
}

}  // namespace

void segmented_sum(const float* values, int count, const int* offsets, int segments, float* sums) {
    if (segments == 0) return;
    int* list = scratch(1 + static_cast<std::size_t>(count) / long_segment);
    cudaMemsetAsync(list, 0, sizeof *list);
    sum_by_warps<<<(segments + warps - 1) / warps, threads>>>(values, offsets, sums, segments, list);
    sum_by_blocks<<<blocks_for_long_segments, threads>>>(values, offsets, sums, list);
}
