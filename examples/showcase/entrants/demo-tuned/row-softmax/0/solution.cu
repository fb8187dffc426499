#include <cmath>

#include "row_softmax.h"

namespace {

constexpr int warps = 8;
constexpr int threads = warps * 32;
constexpr int quads_held = 4;
constexpr std::size_t columns_held = std::size_t{threads} * quads_held * 4;

__device__ __forceinline__ float warp_max(float value) {
    for (int lane = 16; lane > 0; lane /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, lane));
    return value;
}

__device__ __forceinline__ float warp_sum(float value) {
    for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(~0u, value, lane);
    return value;
}

__device__ __forceinline__ float block_max(float value, float* shared) {
    value = warp_max(value);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    return warp_max(shared[threadIdx.x % warps]);
}

__device__ __forceinline__ float block_sum(float value, float* shared) {
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < warps ? shared[threadIdx.x % 32] : 0.0f;
    return warp_sum(value);
}

__device__ __forceinline__ float shift_for(float largest) { return largest == -INFINITY ? 0.0f : largest; }

__device__ __forceinline__ float scale_for(float sum) { return sum > 0.0f ? 1.0f / sum : 0.0f; }

// The row is read once, into registers, and written once.
__global__ void __launch_bounds__(threads) held_kernel(const float4* x, float4* out, unsigned int quads) {
    __shared__ float largest_of[warps];
    __shared__ float sum_of[warps];
    x += blockIdx.x * std::size_t{quads};
    out += blockIdx.x * std::size_t{quads};
    float4 held[quads_held];
    float largest = -INFINITY;
#pragma unroll
    for (int k = 0; k < quads_held; ++k) {
        const unsigned int c = threadIdx.x + k * threads;
        held[k] = c < quads ? __ldcs(x + c) : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        largest = fmaxf(largest, fmaxf(fmaxf(held[k].x, held[k].y), fmaxf(held[k].z, held[k].w)));
    }
    const float shift = shift_for(block_max(largest, largest_of));
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < quads_held; ++k) {
        held[k] = make_float4(__expf(held[k].x - shift), __expf(held[k].y - shift), __expf(held[k].z - shift),
                              __expf(held[k].w - shift));
        sum += (held[k].x + held[k].y) + (held[k].z + held[k].w);
    }
    const float scale = scale_for(block_sum(sum, sum_of));
#pragma unroll
    for (int k = 0; k < quads_held; ++k) {
        const unsigned int c = threadIdx.x + k * threads;
        if (c < quads) {
            __stcs(out + c, make_float4(held[k].x * scale, held[k].y * scale, held[k].z * scale, held[k].w * scale));
        }
    }
}

__global__ void __launch_bounds__(threads) long_kernel(const float* x, float* out, std::size_t columns) {
    __shared__ float largest_of[warps];
    __shared__ float sum_of[warps];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float largest = -INFINITY;
    for (std::size_t c = threadIdx.x; c < columns; c += threads) largest = fmaxf(largest, x[c]);
    const float shift = shift_for(block_max(largest, largest_of));
    float sum = 0.0f;
    for (std::size_t c = threadIdx.x; c < columns; c += threads) sum += __expf(x[c] - shift);
    const float scale = scale_for(block_sum(sum, sum_of));
    for (std::size_t c = threadIdx.x; c < columns; c += threads) out[c] = __expf(x[c] - shift) * scale;
}

}  // namespace

void row_softmax(const float* x, float* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    const auto blocks = static_cast<unsigned int>(rows);
    if (columns % 4 == 0 && columns <= columns_held) {
        held_kernel<<<blocks, threads>>>(reinterpret_cast<const float4*>(x), reinterpret_cast<float4*>(out),
                                         static_cast<unsigned int>(columns / 4));
    } else {
        long_kernel<<<blocks, threads>>>(x, out, columns);
    }
}
