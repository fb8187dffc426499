// Rings of up to 128 Ki cells live in the shared memory of one cluster of eight blocks: a step costs one cluster
// barrier, neighbours and block sums travel through distributed shared memory. Larger rings, and devices without
// clusters, take a chain of fused kernels.
#include "graph_chain.h"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

namespace {

constexpr int cluster_blocks = 8;
constexpr int cluster_threads = 1024;
constexpr int cells_per_block_limit = 16384;
constexpr int threads = 256;

__device__ __forceinline__ std::uint32_t fold(std::uint32_t mixed, std::uint32_t total, std::uint32_t step) {
    return (mixed + total) * 2246822519u + step;
}

__device__ __forceinline__ std::uint32_t mix(std::uint32_t left, std::uint32_t cell, std::uint32_t right) {
    const std::uint32_t sum = cell * 2654435761u + right;
    return __funnelshift_l(sum, sum, 13) ^ left;
}

// Block r holds cells r * share .. of the ring; every block holds at least one, so a neighbour is in this block or in
// the next one round the cluster. Dynamic shared memory: two times `share` words.
__global__ void __launch_bounds__(cluster_threads)
    chain_in_cluster(const std::uint32_t* start, std::uint32_t* ring, int size, int steps, int share) {
#if __CUDA_ARCH__ >= 900
    extern __shared__ std::uint32_t cells[];
    __shared__ std::uint32_t warp_sums[cluster_threads / 32];
    __shared__ std::uint32_t block_sums[2][cluster_blocks];
    const cg::cluster_group cluster = cg::this_cluster();
    const int rank = cluster.block_rank();
    const int base = rank * share;
    const int mine = min(share, size - base);
    const int left_rank = (rank + cluster_blocks - 1) % cluster_blocks;
    const int left_cells = min(share, size - left_rank * share);
    const std::uint32_t* left_block = cluster.map_shared_rank(cells, left_rank);
    const std::uint32_t* right_block = cluster.map_shared_rank(cells, (rank + 1) % cluster_blocks);
    cluster.sync();  // Every block has started: its shared memory may be touched.

    for (int step = 0; step < steps; ++step) {
        const int now = step % 2 * share;
        const int before = share - now;
        std::uint32_t total = 0;
        if (step > 0) {
            for (int block = 0; block < cluster_blocks; ++block) total += block_sums[(step - 1) % 2][block];
        }
        std::uint32_t sum = 0;
        for (int i = threadIdx.x; i < mine; i += cluster_threads) {
            std::uint32_t left, cell, right;
            if (step == 0) {
                const int at = base + i;
                left = start[at > 0 ? at - 1 : size - 1];
                cell = start[at];
                right = start[at + 1 < size ? at + 1 : 0];
            } else {
                left = fold(i > 0 ? cells[before + i - 1] : left_block[before + left_cells - 1], total, step - 1);
                cell = fold(cells[before + i], total, step - 1);
                right = fold(i + 1 < mine ? cells[before + i + 1] : right_block[before], total, step - 1);
            }
            const std::uint32_t value = mix(left, cell, right);
            cells[now + i] = value;
            sum += value;
        }
        sum = __reduce_add_sync(0xffffffffu, sum);
        if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x < 32) {
            sum = __reduce_add_sync(0xffffffffu, warp_sums[threadIdx.x]);
            if (threadIdx.x < cluster_blocks) {
                *cluster.map_shared_rank(&block_sums[step % 2][rank], threadIdx.x) = sum;
            }
        }
        cluster.sync();
    }
    std::uint32_t total = 0;
    for (int block = 0; block < cluster_blocks; ++block) total += block_sums[(steps - 1) % 2][block];
    const int last = (steps - 1) % 2 * share;
    for (int i = threadIdx.x; i < mine; i += cluster_threads) ring[base + i] = fold(cells[last + i], total, steps - 1);
#endif
}

__global__ void __launch_bounds__(threads)
    fused_step(const std::uint32_t* before, std::uint32_t* mixed, std::uint32_t* totals, int size, int step) {
    __shared__ std::uint32_t block_sum;
    if (threadIdx.x == 0) block_sum = 0;
    __syncthreads();
    const int i = blockIdx.x * threads + threadIdx.x;
    std::uint32_t value = 0;
    if (i < size) {
        std::uint32_t left = before[i > 0 ? i - 1 : size - 1];
        std::uint32_t cell = before[i];
        std::uint32_t right = before[i + 1 < size ? i + 1 : 0];
        if (step > 0) {
            const std::uint32_t total = totals[step - 1];
            left = fold(left, total, step - 1);
            cell = fold(cell, total, step - 1);
            right = fold(right, total, step - 1);
        }
        value = mix(left, cell, right);
        mixed[i] = value;
    }
    const std::uint32_t sum = __reduce_add_sync(0xffffffffu, value);
    if (threadIdx.x % 32 == 0) atomicAdd(&block_sum, sum);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(totals + step, block_sum);
}

__global__ void __launch_bounds__(threads)
    last_fold(const std::uint32_t* mixed, const std::uint32_t* totals, std::uint32_t* ring, int size, int steps) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < size) ring[i] = fold(mixed[i], totals[steps - 1], steps - 1);
}

void chain_of_kernels(const std::uint32_t* start, std::uint32_t* ring, int size, int steps) {
    static std::uint32_t* scratch = nullptr;
    static std::size_t held = 0;
    const std::size_t words = 2 * static_cast<std::size_t>(size) + steps;
    if (words > held) {
        cudaFree(scratch);
        cudaMalloc(&scratch, words * sizeof *scratch);
        held = words;
    }
    std::uint32_t* mixed[2] = {scratch, scratch + size};
    std::uint32_t* totals = scratch + 2 * static_cast<std::size_t>(size);
    cudaMemsetAsync(totals, 0, steps * sizeof *totals);
    const int blocks = (size + threads - 1) / threads;
    for (int step = 0; step < steps; ++step) {
        fused_step<<<blocks, threads>>>(step == 0 ? start : mixed[(step - 1) % 2], mixed[step % 2], totals, size, step);
    }
    last_fold<<<blocks, threads>>>(mixed[(steps - 1) % 2], totals, ring, size, steps);
}

bool has_clusters() {
    cudaFuncAttributes attributes{};
    return cudaFuncGetAttributes(&attributes, chain_in_cluster) == cudaSuccess && attributes.ptxVersion >= 90 &&
           attributes.binaryVersion >= 90 &&
           cudaFuncSetAttribute(chain_in_cluster, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                2 * cells_per_block_limit * static_cast<int>(sizeof(std::uint32_t))) == cudaSuccess;
}

void launch_cluster(const std::uint32_t* start, std::uint32_t* ring, int size, int steps, int share) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster_blocks;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(cluster_blocks);
    config.blockDim = dim3(cluster_threads);
    config.dynamicSmemBytes = 2 * share * sizeof(std::uint32_t);
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, chain_in_cluster, start, ring, size, steps, share);
}

}  // namespace

void graph_chain(const std::uint32_t* start, std::uint32_t* ring, int size, int steps) {
    static const bool clusters = has_clusters();
    if (size == 0) return;
    if (steps == 0) {
        cudaMemcpyAsync(ring, start, size * sizeof *ring, cudaMemcpyDeviceToDevice);
        return;
    }
    const int share = (size + cluster_blocks - 1) / cluster_blocks;
    const bool all_blocks_hold_cells = (cluster_blocks - 1) * share < size;
    if (clusters && share <= cells_per_block_limit && all_blocks_hold_cells) {
        launch_cluster(start, ring, size, steps, share);
    } else {
        chain_of_kernels(start, ring, size, steps);
    }
}
