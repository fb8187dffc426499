// Tiles of 4,096 values instead of segments: every block reads its tile once with wide loads into shared memory, finds
// the segments in it by bisection and sums their pieces. Segments within a tile are written, pieces of longer ones
// added.
#include "segmented_sum.h"

#include <cub/warp/warp_reduce.cuh>
#include <cuda_runtime.h>

namespace {

constexpr int threads = 256;
constexpr int tile_values = 4096;

// The first segment that ends behind `position`.
__device__ int segment_at(const int* offsets, int segments, int position) {
    int low = 0, high = segments - 1;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (offsets[middle + 1] > position) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

template <int width>
__device__ void sum_pieces(const float* tile, int tile_begin, int tile_end, const int* offsets, int first, int last,
                           float* sums) {
    using Reduce = cub::WarpReduce<float, width>;
    __shared__ typename Reduce::TempStorage storage[threads / width];
    const int group = threadIdx.x / width;
    const int lane = threadIdx.x % width;
    const int rounds = (last - first) / (threads / width) + 1;
    for (int round = 0; round < rounds; ++round) {
        const int segment = first + round * (threads / width) + group;
        int begin = 0, end = 0;
        if (segment <= last) {
            begin = offsets[segment];
            end = offsets[segment + 1];
        }
        float sum = 0.0f;
        for (int i = max(begin, tile_begin) + lane; i < min(end, tile_end); i += width) sum += tile[i - tile_begin];
        sum = Reduce(storage[group]).Sum(sum);
        __syncwarp();
        if (lane != 0 || begin == end) continue;
        if (begin >= tile_begin && end <= tile_end) {
            sums[segment] = sum;
        } else {
            atomicAdd(sums + segment, sum);
        }
    }
}

// `sums` holds zeros.
__global__ void __launch_bounds__(threads)
    sum_tiles(const float* values, int count, const int* offsets, int segments, float* sums, bool aligned) {
    __shared__ alignas(16) float tile[tile_values];
    __shared__ int ends[2];
    const int tile_begin = blockIdx.x * tile_values;
    const int tile_end = min(count - tile_begin, tile_values) + tile_begin;
    if (threadIdx.x < 2) {
        ends[threadIdx.x] = segment_at(offsets, segments, threadIdx.x == 0 ? tile_begin : tile_end - 1);
    }
    if (aligned && tile_end - tile_begin == tile_values) {
        const float4* from = reinterpret_cast<const float4*>(values + tile_begin);
#pragma unroll
        for (int i = 0; i < tile_values / 4 / threads; ++i) {
            reinterpret_cast<float4*>(tile)[i * threads + threadIdx.x] = __ldcs(from + i * threads + threadIdx.x);
        }
    } else {
        for (int i = threadIdx.x; i < tile_end - tile_begin; i += threads) tile[i] = values[tile_begin + i];
    }
    __syncthreads();
    const int first = ends[0];
    const int last = ends[1];
    if (last - first >= 64) {
        sum_pieces<4>(tile, tile_begin, tile_end, offsets, first, last, sums);
    } else if (last - first >= 16) {
        sum_pieces<16>(tile, tile_begin, tile_end, offsets, first, last, sums);
    } else {
        sum_pieces<32>(tile, tile_begin, tile_end, offsets, first, last, sums);
    }
}

}  // namespace

void segmented_sum(const float* values, int count, const int* offsets, int segments, float* sums) {
    if (segments == 0) return;
    cudaMemsetAsync(sums, 0, segments * sizeof *sums);
    if (count == 0) return;
    const bool aligned = reinterpret_cast<std::size_t>(values) % sizeof(float4) == 0;
    const int tiles = (count - 1) / tile_values + 1;
    sum_tiles<<<tiles, threads>>>(values, count, offsets, segments, sums, aligned);
}
