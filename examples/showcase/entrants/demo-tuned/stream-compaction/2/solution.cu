// One cooperative launch: every block counts what its own stretch keeps, all meet at a barrier, every block adds up the
// counts before its own and places its values.
#include "compact.h"

#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

namespace {

constexpr int threads = 512;
constexpr int items = 8;
constexpr int tile_size = threads * items;
constexpr int most_blocks = 4096;

__device__ int counts[most_blocks];

__global__ void __launch_bounds__(threads)
    compact_stretches(const float* values, int count, float threshold, float* kept, int* kept_count, int stretch) {
    using Reduce = cub::BlockReduce<int, threads>;
    using Scan = cub::BlockScan<int, threads>;
    __shared__ union {
        typename Reduce::TempStorage reduce;
        typename Scan::TempStorage scan;
    } shared;
    __shared__ int shared_start;
    const long long begin = static_cast<long long>(blockIdx.x) * stretch;
    const int first = static_cast<int>(min(begin, static_cast<long long>(count)));
    const int last = static_cast<int>(min(begin + stretch, static_cast<long long>(count)));

    int mine = 0;
#pragma unroll 8
    for (int i = first + threadIdx.x; i < last; i += threads) mine += values[i] > threshold ? 1 : 0;
    const int own = Reduce(shared.reduce).Sum(mine);
    if (threadIdx.x == 0) counts[blockIdx.x] = own;
    cg::this_grid().sync();

    int before = 0;
    for (int block = threadIdx.x; block < blockIdx.x; block += threads) before += __ldcg(counts + block);
    before = Reduce(shared.reduce).Sum(before);
    if (threadIdx.x == 0) {
        shared_start = before;
        if (blockIdx.x == gridDim.x - 1) *kept_count = before + own;
    }
    __syncthreads();
    int start = shared_start;

    for (int tile = first; tile < last; tile += tile_size) {
        float loaded[items];
        int keeps[items];
#pragma unroll
        for (int k = 0; k < items; ++k) {
            const int i = tile + k * threads + threadIdx.x;
            loaded[k] = i < last ? values[i] : threshold;
        }
        // Striped: round k of all threads comes before round k + 1 of any.
#pragma unroll
        for (int k = 0; k < items; ++k) {
            int sum = 0;
            Scan(shared.scan).ExclusiveSum(loaded[k] > threshold ? 1 : 0, keeps[k], sum);
            if (loaded[k] > threshold) kept[start + keeps[k]] = loaded[k];
            start += sum;
            __syncthreads();
        }
    }
}

int resident_blocks() {
    static int blocks = 0;
    if (blocks == 0) {
        int device = 0, processors = 0, per_processor = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, compact_stretches, threads, 0);
        blocks = min(processors * per_processor, most_blocks);
    }
    return blocks;
}

}  // namespace

void compact(const float* values, int count, float threshold, float* kept, int* kept_count) {
    if (count == 0) {
        cudaMemsetAsync(kept_count, 0, sizeof *kept_count);
        return;
    }
    const int tiles = (count - 1) / tile_size + 1;
    const int blocks = min(tiles, resident_blocks());
    int stretch = ((tiles - 1) / blocks + 1) * tile_size;
    void* arguments[] = {&values, &count, &threshold, &kept, &kept_count, &stretch};
    cudaLaunchCooperativeKernel(compact_stretches, dim3(blocks), dim3(threads), arguments, 0, nullptr);
}
