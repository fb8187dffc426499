#include <cmath>

#include "row_softmax.h"

namespace {

constexpr int warps = 8;
constexpr int quads_per_lane = 32;
constexpr std::size_t columns_held = 32 * quads_per_lane * 4;

template <class Combine>
__device__ __forceinline__ float warp_reduce(float value, Combine combine) {
    for (int lane = 16; lane > 0; lane /= 2) value = combine(value, __shfl_xor_sync(~0u, value, lane));
    return value;
}

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

// A warp has a row of up to 4096 columns to itself and needs no barrier. Each lane keeps 128 elements in registers.
__global__ void __launch_bounds__(warps * 32, 1)
    held_kernel(const float4* x, float4* out, std::size_t rows, unsigned int quads) {
    const std::size_t row = blockIdx.x * std::size_t{warps} + threadIdx.x / 32;
    if (row >= rows) return;
    const unsigned int lane = threadIdx.x % 32;
    x += row * quads;
    out += row * quads;
    float4 held[quads_per_lane];
    float largest = -INFINITY;
#pragma unroll
    for (int k = 0; k < quads_per_lane; ++k) {
        const unsigned int c = lane + k * 32;
        held[k] = c < quads ? __ldcs(x + c) : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        largest = fmaxf(largest, fmaxf(fmaxf(held[k].x, held[k].y), fmaxf(held[k].z, held[k].w)));
    }
    largest = warp_reduce(largest, Larger{});
    const float shift = largest == -INFINITY ? 0.0f : largest;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < quads_per_lane; ++k) {
        held[k] = make_float4(__expf(held[k].x - shift), __expf(held[k].y - shift), __expf(held[k].z - shift),
                              __expf(held[k].w - shift));
        sum += (held[k].x + held[k].y) + (held[k].z + held[k].w);
    }
    sum = warp_reduce(sum, Sum{});
    const float scale = sum > 0.0f ? 1.0f / sum : 0.0f;
#pragma unroll
    for (int k = 0; k < quads_per_lane; ++k) {
        const unsigned int c = lane + k * 32;
        if (c < quads) {
            __stcs(out + c, make_float4(held[k].x * scale, held[k].y * scale, held[k].z * scale, held[k].w * scale));
        }
    }
}

// Any other row: a warp per row, three walks.
__global__ void __launch_bounds__(warps * 32)
    walking_kernel(const float* x, float* out, std::size_t rows, std::size_t columns) {
    const std::size_t row = blockIdx.x * std::size_t{warps} + threadIdx.x / 32;
    if (row >= rows) return;
    const unsigned int lane = threadIdx.x % 32;
    x += row * columns;
    out += row * columns;
    float largest = -INFINITY;
    for (std::size_t c = lane; c < columns; c += 32) largest = fmaxf(largest, x[c]);
    largest = warp_reduce(largest, Larger{});
    const float shift = largest == -INFINITY ? 0.0f : largest;
    float sum = 0.0f;
    for (std::size_t c = lane; c < columns; c += 32) sum += __expf(x[c] - shift);
    sum = warp_reduce(sum, Sum{});
    const float scale = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (std::size_t c = lane; c < columns; c += 32) out[c] = __expf(x[c] - shift) * scale;
}

}  // namespace

void row_softmax(const float* x, float* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    const auto blocks = static_cast<unsigned int>((rows + warps - 1) / warps);
    if (columns % 4 == 0 && columns > columns_held / 2 && columns <= columns_held) {
        held_kernel<<<blocks, warps * 32>>>(reinterpret_cast<const float4*>(x), reinterpret_cast<float4*>(out), rows,
                                            static_cast<unsigned int>(columns / 4));
    } else {
        walking_kernel<<<blocks, warps * 32>>>(x, out, rows, columns);
    }
}
