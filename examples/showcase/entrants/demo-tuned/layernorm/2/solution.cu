// Blocks that stay: each takes every n-th row and, while it works on one in shared memory, fetches the next.
#include "layernorm.h"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

namespace {

constexpr int threads = 256;
constexpr int most_columns = 6000;  // Two rows and the sums fit into 48 KiB of shared memory.

// The sum over the block, for every thread.
__device__ __forceinline__ float block_sum(float mine) {
    __shared__ float partial[threads / 32];
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, offset);
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = mine;
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int warp = 0; warp < threads / 32; ++warp) sum += partial[warp];
    return sum;
}

__device__ __forceinline__ float total(float4 quad) { return (quad.x + quad.y) + (quad.z + quad.w); }

__device__ __forceinline__ float squared_distance(float4 quad, float mean) {
    const float x = quad.x - mean, y = quad.y - mean, z = quad.z - mean, w = quad.w - mean;
    return (x * x + y * y) + (z * z + w * w);
}

__device__ __forceinline__ float4 normalised(float4 quad, float mean, float scale, float4 g, float4 b) {
    return make_float4((quad.x - mean) * scale * g.x + b.x, (quad.y - mean) * scale * g.y + b.y,
                       (quad.z - mean) * scale * g.z + b.z, (quad.w - mean) * scale * g.w + b.w);
}

__device__ __forceinline__ void fetch_row(float4* to, const float4* x, int row, int rows, int quads) {
    if (row < rows) {
        const float4* from = x + static_cast<std::size_t>(row) * quads;
        for (int i = threadIdx.x; i < quads; i += threads) __pipeline_memcpy_async(to + i, from + i, sizeof(float4));
    }
    __pipeline_commit();
}

// A thread reads from shared memory only what it fetched itself, so that waiting for its own copies is enough.
__global__ void __launch_bounds__(threads)
    normalise_in_turn(const float4* __restrict__ x, const float4* __restrict__ gamma, const float4* __restrict__ beta,
                      float4* __restrict__ y, int rows, int quads, float epsilon) {
    extern __shared__ float4 buffers[];
    fetch_row(buffers, x, blockIdx.x, rows, quads);
    int turn = 0;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float4* held = buffers + turn * quads;
        turn = 1 - turn;
        fetch_row(buffers + turn * quads, x, row + gridDim.x, rows, quads);
        __pipeline_wait_prior(1);
        float sum = 0.0f;
        for (int i = threadIdx.x; i < quads; i += threads) sum += total(held[i]);
        const float mean = block_sum(sum) / (4 * quads);
        float squares = 0.0f;
        for (int i = threadIdx.x; i < quads; i += threads) squares += squared_distance(held[i], mean);
        const float scale = rsqrtf(block_sum(squares) / (4 * quads) + epsilon);
        float4* out = y + static_cast<std::size_t>(row) * quads;
        for (int i = threadIdx.x; i < quads; i += threads) {
            __stcs(out + i, normalised(held[i], mean, scale, __ldg(gamma + i), __ldg(beta + i)));
        }
    }
    __pipeline_wait_prior(0);
}

// Any shape and alignment: one block per row, which is read three times.
__global__ void __launch_bounds__(threads)
    normalise_any(const float* x, const float* gamma, const float* beta, float* y, int columns, float epsilon) {
    const float* row = x + static_cast<std::size_t>(blockIdx.x) * columns;
    float* out = y + static_cast<std::size_t>(blockIdx.x) * columns;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += threads) sum += row[c];
    const float mean = block_sum(sum) / columns;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < columns; c += threads) squares += (row[c] - mean) * (row[c] - mean);
    const float scale = rsqrtf(block_sum(squares) / columns + epsilon);
    for (int c = threadIdx.x; c < columns; c += threads) out[c] = (row[c] - mean) * scale * gamma[c] + beta[c];
}

bool is_wide(const void* pointer) { return reinterpret_cast<std::size_t>(pointer) % sizeof(float4) == 0; }

int resident_blocks(std::size_t shared_bytes) {
    int device = 0, processors = 0, per_processor = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, normalise_in_turn, threads, shared_bytes);
    return processors * per_processor;
}

}  // namespace

void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int columns, float epsilon) {
    if (rows == 0) return;
    const bool wide = columns % 4 == 0 && is_wide(x) && is_wide(gamma) && is_wide(beta) && is_wide(y);
    if (!wide || columns > most_columns) {
        normalise_any<<<rows, threads>>>(x, gamma, beta, y, columns, epsilon);
        return;
    }
    const std::size_t shared_bytes = 2 * columns * sizeof(float);
    const int resident = resident_blocks(shared_bytes);
    normalise_in_turn<<<rows < resident ? rows : resident, threads, shared_bytes>>>(
        reinterpret_cast<const float4*>(x), reinterpret_cast<const float4*>(gamma),
        reinterpret_cast<const float4*>(beta), reinterpret_cast<float4*>(y), rows, columns / 4, epsilon);
}
