// Counts per tile with wide loads, CUB's scan over the counts, then a second pass that places values by warp ballots.
#include "compact.h"

#include <cub/block/block_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>

namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int rounds = 16;
constexpr int tile_size = threads * rounds;
constexpr int warp_values = tile_size / warps;

__global__ void __launch_bounds__(threads)
    count_tiles(const float* values, int count, float threshold, int* counts, bool aligned) {
    using Reduce = cub::BlockReduce<int, threads>;
    __shared__ Reduce::TempStorage storage;
    const int begin = blockIdx.x * tile_size;
    const int valid = min(count - begin, tile_size);
    int mine = 0;
    if (aligned && valid == tile_size) {
        const float4* wide = reinterpret_cast<const float4*>(values + begin);
#pragma unroll
        for (int k = 0; k < rounds / 4; ++k) {
            const float4 quad = wide[k * threads + threadIdx.x];
            mine += (quad.x > threshold) + (quad.y > threshold) + (quad.z > threshold) + (quad.w > threshold);
        }
    } else {
        for (int i = threadIdx.x; i < valid; i += threads) mine += values[begin + i] > threshold;
    }
    const int sum = Reduce(storage).Sum(mine);
    if (threadIdx.x == 0) counts[blockIdx.x] = sum;
}

// `ends[tile]` is how many values all tiles up to this one keep.
__global__ void __launch_bounds__(threads)
    move_values(const float* values, int count, float threshold, float* kept, const int* ends, int* kept_count) {
    __shared__ int keeps[warps];
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int begin = blockIdx.x * tile_size + warp * warp_values;
    float mine[rounds];
    unsigned int ballots[rounds];
    int sum = 0;
#pragma unroll
    for (int k = 0; k < rounds; ++k) {
        const int at = begin + k * 32 + lane;
        mine[k] = at < count ? values[at] : threshold;
        ballots[k] = __ballot_sync(0xffffffffu, mine[k] > threshold);
        sum += __popc(ballots[k]);
    }
    if (lane == 0) keeps[warp] = sum;
    __syncthreads();
    int start = blockIdx.x > 0 ? ends[blockIdx.x - 1] : 0;
    for (int before = 0; before < warp; ++before) start += keeps[before];
    const unsigned int lower_lanes = (1u << lane) - 1;
#pragma unroll
    for (int k = 0; k < rounds; ++k) {
        if (mine[k] > threshold) kept[start + __popc(ballots[k] & lower_lanes)] = mine[k];
        start += __popc(ballots[k]);
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *kept_count = ends[blockIdx.x];
}

void* scratch(std::size_t bytes) {
    static void* memory = nullptr;
    static std::size_t held = 0;
    if (bytes > held) {
        cudaFree(memory);
        cudaMalloc(&memory, bytes);
        held = bytes;
    }
    return memory;
}

}  // namespace

void compact(const float* values, int count, float threshold, float* kept, int* kept_count) {
    if (count == 0) {
        cudaMemsetAsync(kept_count, 0, sizeof *kept_count);
        return;
    }
    const int tiles = (count - 1) / tile_size + 1;
    const bool aligned = reinterpret_cast<std::size_t>(values) % sizeof(float4) == 0;
    std::size_t scan_bytes = 0;
    cub::DeviceScan::InclusiveSum(nullptr, scan_bytes, static_cast<int*>(nullptr), static_cast<int*>(nullptr), tiles);
    const std::size_t counts_bytes = (tiles * sizeof(int) + 255) / 256 * 256;
    char* memory = static_cast<char*>(scratch(counts_bytes + scan_bytes));
    int* counts = reinterpret_cast<int*>(memory);
    count_tiles<<<tiles, threads>>>(values, count, threshold, counts, aligned);
    cub::DeviceScan::InclusiveSum(memory + counts_bytes, scan_bytes, counts, counts, tiles);
    move_values<<<tiles, threads>>>(values, count, threshold, kept, counts, kept_count);
}
