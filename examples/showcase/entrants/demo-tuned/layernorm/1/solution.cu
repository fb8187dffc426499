// A warp per row: up to 4,096 columns lie in the registers of its lanes, and no barrier is needed at all.
#include "layernorm.h"

#include <cuda_runtime.h>

namespace {

constexpr int threads = 256;
constexpr int warps_a_block = 4;

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

__device__ __forceinline__ float warp_sum(float mine) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, offset);
    return mine;
}

// For columns that are a multiple of four, at most 128 * most_quads.
template <int most_quads>
__global__ void __launch_bounds__(32 * warps_a_block)
    normalise_by_warps(const float4* __restrict__ x, const float4* __restrict__ gamma, const float4* __restrict__ beta,
                       float4* __restrict__ y, int rows, int quads, float epsilon) {
    const int row = blockIdx.x * warps_a_block + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const std::size_t begin = static_cast<std::size_t>(row) * quads;
    float4 held[most_quads];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < most_quads; ++k) {
        const int at = k * 32 + lane;
        if (at < quads) held[k] = __ldcs(x + begin + at);
    }
#pragma unroll
    for (int k = 0; k < most_quads; ++k) {
        if (k * 32 + lane < quads) sum += total(held[k]);
    }
    const float mean = warp_sum(sum) / (4 * quads);
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < most_quads; ++k) {
        if (k * 32 + lane < quads) squares += squared_distance(held[k], mean);
    }
    const float scale = rsqrtf(warp_sum(squares) / (4 * quads) + epsilon);
#pragma unroll
    for (int k = 0; k < most_quads; ++k) {
        const int at = k * 32 + lane;
        if (at < quads) __stcs(y + begin + at, normalised(held[k], mean, scale, __ldg(gamma + at), __ldg(beta + at)));
    }
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

template <int most_quads>
void launch(const float* x, const float* gamma, const float* beta, float* y, int rows, int columns, float epsilon) {
    normalise_by_warps<most_quads><<<(rows + warps_a_block - 1) / warps_a_block, 32 * warps_a_block>>>(
        reinterpret_cast<const float4*>(x), reinterpret_cast<const float4*>(gamma),
        reinterpret_cast<const float4*>(beta), reinterpret_cast<float4*>(y), rows, columns / 4, epsilon);
}

}  // namespace

void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int columns, float epsilon) {
    if (rows == 0) return;
    const bool wide = columns % 4 == 0 && is_wide(x) && is_wide(gamma) && is_wide(beta) && is_wide(y);
    if (wide && columns <= 512) {
        launch<4>(x, gamma, beta, y, rows, columns, epsilon);
    } else if (wide && columns <= 1024) {
        launch<8>(x, gamma, beta, y, rows, columns, epsilon);
    } else if (wide && columns <= 4096) {
        launch<32>(x, gamma, beta, y, rows, columns, epsilon);
    } else {
        normalise_any<<<rows, threads>>>(x, gamma, beta, y, columns, epsilon);
    }
}
