// One pass over the values: tiles of 4,096 publish how many they keep and look back at their predecessors for where
// their own begin (Merrill and Garland's decoupled look-back); what a tile keeps is packed in shared memory first.
#include "compact.h"

#include <cstdint>

#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda_runtime.h>

namespace {

constexpr int threads = 256;
constexpr int items = 16;
constexpr int tile_size = threads * items;

// A tile's state: what is known in the upper half, a number of values in the lower. Both travel in one word.
using State = unsigned long long;
constexpr State has_own = State{1} << 32;
constexpr State has_prefix = State{2} << 32;

__device__ __forceinline__ int number_of(State state) { return static_cast<int>(state & 0xffffffffu); }

__device__ __forceinline__ State wait_for(const State* state) {
    State seen = 0;
    do {
        seen = *reinterpret_cast<const volatile State*>(state);
    } while (seen >> 32 == 0);
    return seen;
}

// How many values all tiles before `tile` keep; called by one whole warp.
__device__ int look_back(const State* states, int tile) {
    const int lane = threadIdx.x % 32;
    int before = 0;
    for (int last = tile - 1; last >= 0; last -= 32) {
        const int at = last - lane;
        const State seen = at >= 0 ? wait_for(states + at) : has_prefix;
        const unsigned int complete = __ballot_sync(0xffffffffu, (seen & has_prefix) != 0);
        const int nearest = complete != 0 ? __ffs(complete) - 1 : 31;
        before += __reduce_add_sync(0xffffffffu, lane <= nearest ? number_of(seen) : 0);
        if (complete != 0) break;
    }
    return before;
}

// `states` and `next_tile` hold zeros.
__global__ void __launch_bounds__(threads) compact_tiles(const float* values, int count, float threshold, float* kept,
                                                         int* kept_count, State* states, int* next_tile) {
    using Load = cub::BlockLoad<float, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<int, threads>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Scan::TempStorage scan;
        float packed[tile_size];
    } shared;
    __shared__ int this_tile, tile_start;
    if (threadIdx.x == 0) this_tile = atomicAdd(next_tile, 1);
    __syncthreads();
    const int tile = this_tile;
    const int begin = tile * tile_size;
    const int valid = min(count - begin, tile_size);
    float mine[items];
    Load(shared.load).Load(values + begin, mine, valid, threshold);
    __syncthreads();
    int keeps = 0;
#pragma unroll
    for (int k = 0; k < items; ++k) keeps += mine[k] > threshold ? 1 : 0;
    int at = 0, sum = 0;
    Scan(shared.scan).ExclusiveSum(keeps, at, sum);
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) atomicExch(states + tile, (tile == 0 ? has_prefix : has_own) | static_cast<State>(sum));
        const int before = look_back(states, tile);
        if (threadIdx.x == 0) {
            if (tile > 0) atomicExch(states + tile, has_prefix | static_cast<State>(before + sum));
            tile_start = before;
            if (begin + valid == count) *kept_count = before + sum;
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < items; ++k) {
        if (mine[k] > threshold) shared.packed[at++] = mine[k];
    }
    __syncthreads();
    float* out = kept + tile_start;
    for (int i = threadIdx.x; i < sum; i += threads) __stcs(out + i, shared.packed[i]);
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
    const std::size_t bytes = (static_cast<std::size_t>(tiles) + 1) * sizeof(State);
    State* states = static_cast<State*>(scratch(bytes));
    cudaMemsetAsync(states, 0, bytes);
    int* next_tile = reinterpret_cast<int*>(states + tiles);
    compact_tiles<<<tiles, threads>>>(values, count, threshold, kept, kept_count, states, next_tile);
}
