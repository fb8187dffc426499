// A persistent cooperative kernel: one launch, one grid-wide barrier per step. Each step folds the one before on the
// fly, so that a step needs its neighbours' mixed cells and the last total only.
#include "graph_chain.h"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

namespace {

constexpr int threads = 512;

__device__ __forceinline__ std::uint32_t mix(std::uint32_t left, std::uint32_t cell, std::uint32_t right) {
    const std::uint32_t sum = cell * 2654435761u + right;
    return __funnelshift_l(sum, sum, 13) ^ left;
}

__device__ __forceinline__ void add_to_total(std::uint32_t mine, std::uint32_t* total) {
    __shared__ std::uint32_t sums[threads / 32];
    mine = __reduce_add_sync(0xffffffffu, mine);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x < 32) {
        mine = __reduce_add_sync(0xffffffffu, threadIdx.x < threads / 32 ? sums[threadIdx.x] : 0);
        if (threadIdx.x == 0) atomicAdd(total, mine);
    }
}

// `totals` holds zeros. What other blocks wrote is read past the L1 cache.
__global__ void __launch_bounds__(threads)
    chain(const std::uint32_t* start, std::uint32_t* ring, std::uint32_t* even, std::uint32_t* odd,
          std::uint32_t* totals, int size, int steps) {
    const cg::grid_group grid = cg::this_grid();
    const int first = blockIdx.x * threads + threadIdx.x;
    const int stride = gridDim.x * threads;
    std::uint32_t mine = 0;
    for (int i = first; i < size; i += stride) {
        const std::uint32_t value = mix(start[i > 0 ? i - 1 : size - 1], start[i], start[i + 1 < size ? i + 1 : 0]);
        even[i] = value;
        mine += value;
    }
    add_to_total(mine, totals);
    grid.sync();
    for (int step = 1; step < steps; ++step) {
        const std::uint32_t* before = step % 2 != 0 ? even : odd;
        std::uint32_t* after = step % 2 != 0 ? odd : even;
        const std::uint32_t total = __ldcg(totals + step - 1);
        const std::uint32_t round = step - 1;
        mine = 0;
        for (int i = first; i < size; i += stride) {
            const std::uint32_t left = (__ldcg(before + (i > 0 ? i - 1 : size - 1)) + total) * 2246822519u + round;
            const std::uint32_t cell = (__ldcg(before + i) + total) * 2246822519u + round;
            const std::uint32_t right = (__ldcg(before + (i + 1 < size ? i + 1 : 0)) + total) * 2246822519u + round;
            const std::uint32_t value = mix(left, cell, right);
            after[i] = value;
            mine += value;
        }
        add_to_total(mine, totals + step);
        grid.sync();
    }
    const std::uint32_t* last = steps % 2 != 0 ? even : odd;
    const std::uint32_t total = __ldcg(totals + steps - 1);
    for (int i = first; i < size; i += stride) ring[i] = (last[i] + total) * 2246822519u + (steps - 1);
}

int resident_blocks() {
    static int blocks = 0;
    if (blocks == 0) {
        int device = 0, processors = 0, per_processor = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, chain, threads, 0);
        blocks = processors * per_processor;
    }
    return blocks;
}

std::uint32_t* scratch(std::size_t words) {
    static std::uint32_t* memory = nullptr;
    static std::size_t held = 0;
    if (words > held) {
        cudaFree(memory);
        cudaMalloc(&memory, words * sizeof *memory);
        held = words;
    }
    return memory;
}

}  // namespace

void graph_chain(const std::uint32_t* start, std::uint32_t* ring, int size, int steps) {
    if (size == 0) return;
    if (steps == 0) {
        cudaMemcpyAsync(ring, start, size * sizeof *ring, cudaMemcpyDeviceToDevice);
        return;
    }
    std::uint32_t* even = scratch(2 * static_cast<std::size_t>(size) + steps);
    std::uint32_t* odd = even + size;
    std::uint32_t* totals = odd + size;
    cudaMemsetAsync(totals, 0, steps * sizeof *totals);
    const int wanted = (size + threads - 1) / threads;
    const int blocks = wanted < resident_blocks() ? wanted : resident_blocks();
    void* arguments[] = {&start, &ring, &even, &odd, &totals, &size, &steps};
    cudaLaunchCooperativeKernel(chain, dim3(blocks), dim3(threads), arguments, 0, nullptr);
}
