#include <cmath>

#include "row_softmax.h"

namespace {

constexpr int warps = 16;
constexpr int threads = warps * 32;

// The sum of exp(x - largest) over some elements; {-inf, 0} over none.
struct Online {
    float largest;
    float sum;
};

__device__ __forceinline__ Online merge(Online a, Online b) {
    const float largest = fmaxf(a.largest, b.largest);
    if (largest == -INFINITY) return {largest, 0.0f};
    return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}

__device__ __forceinline__ Online warp_merge(Online value) {
    for (int lane = 16; lane > 0; lane /= 2) {
        value = merge(value, {__shfl_xor_sync(~0u, value.largest, lane), __shfl_xor_sync(~0u, value.sum, lane)});
    }
    return value;
}

__device__ __forceinline__ Online block_merge(Online value, Online* shared) {
    value = warp_merge(value);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < warps ? shared[threadIdx.x % 32] : Online{-INFINITY, 0.0f};
    return warp_merge(value);
}

__device__ __forceinline__ Online quad(float4 v) {
    const float largest = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
    if (largest == -INFINITY) return {largest, 0.0f};
    return {largest, (__expf(v.x - largest) + __expf(v.y - largest)) + (__expf(v.z - largest) + __expf(v.w - largest))};
}

// Largest element and sum in one walk; the second walk finds the row in the caches.
__global__ void __launch_bounds__(threads) wide_kernel(const float4* x, float4* out, std::size_t quads) {
    __shared__ Online shared[warps];
    x += blockIdx.x * quads;
    out += blockIdx.x * quads;
    Online mine{-INFINITY, 0.0f};
    for (std::size_t c = threadIdx.x; c < quads; c += threads) mine = merge(mine, quad(__ldg(x + c)));
    const Online row = block_merge(mine, shared);
    const float shift = row.largest == -INFINITY ? 0.0f : row.largest;
    const float scale = row.sum > 0.0f ? 1.0f / row.sum : 0.0f;
    for (std::size_t c = threadIdx.x; c < quads; c += threads) {
        const float4 v = __ldg(x + c);
        __stcs(out + c, make_float4(__expf(v.x - shift) * scale, __expf(v.y - shift) * scale,
                                    __expf(v.z - shift) * scale, __expf(v.w - shift) * scale));
    }
}

__global__ void __launch_bounds__(threads) narrow_kernel(const float* x, float* out, std::size_t columns) {
    __shared__ Online shared[warps];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    Online mine{-INFINITY, 0.0f};
    for (std::size_t c = threadIdx.x; c < columns; c += threads) {
        const float v = __ldg(x + c);
        mine = merge(mine, {v, v == -INFINITY ? 0.0f : 1.0f});
    }
    const Online row = block_merge(mine, shared);
    const float shift = row.largest == -INFINITY ? 0.0f : row.largest;
    const float scale = row.sum > 0.0f ? 1.0f / row.sum : 0.0f;
    for (std::size_t c = threadIdx.x; c < columns; c += threads) out[c] = __expf(__ldg(x + c) - shift) * scale;
}

}  // namespace

void row_softmax(const float* x, float* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    const auto blocks = static_cast<unsigned int>(rows);
    if (columns % 4 == 0) {
        wide_kernel<<<blocks, threads>>>(reinterpret_cast<const float4*>(x), reinterpret_cast<float4*>(out), columns / 4);
    } else {
        narrow_kernel<<<blocks, threads>>>(x, out, columns);
    }
}
