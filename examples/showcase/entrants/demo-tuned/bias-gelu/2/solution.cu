#include <cstdint>

#include "bias_gelu.h"

namespace {

constexpr int threads = 256;
constexpr int per_thread = 2;

__device__ __forceinline__ float one(float x, float bias, float residual) {
    const float v = x + bias;
    return fmaf(0.5f * v, 1.0f + erff(v * 0.70710678f), residual);
}

// Counts quads of four floats. With at most 2^32 of them a 32-bit remainder finds the bias.
__global__ void __launch_bounds__(threads)
    flat_kernel(const float4* x, const float4* bias, const float4* residual, float4* out, unsigned int size,
                unsigned int columns) {
    const unsigned int first = blockIdx.x * (threads * per_thread) + threadIdx.x;
    float4 a[per_thread];
    float4 r[per_thread];
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        const unsigned int i = first + k * threads;
        if (i < size) {
            a[k] = __ldcs(x + i);
            r[k] = __ldcs(residual + i);
        }
    }
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        const unsigned int i = first + k * threads;
        if (i < size) {
            const float4 b = __ldg(bias + i % columns);
            __stcs(out + i, make_float4(one(a[k].x, b.x, r[k].x), one(a[k].y, b.y, r[k].y), one(a[k].z, b.z, r[k].z),
                                        one(a[k].w, b.w, r[k].w)));
        }
    }
}

__global__ void plain_kernel(const float* x, const float* bias, const float* residual, float* out, std::size_t size,
                             std::size_t columns) {
    const std::size_t i = blockIdx.x * std::size_t{threads} + threadIdx.x;
    if (i < size) out[i] = one(x[i], bias[i % columns], residual[i]);
}

}  // namespace

void bias_gelu(const float* x, const float* bias, const float* residual, float* out, std::size_t rows,
               std::size_t columns) {
    const std::size_t size = rows * columns;
    if (size == 0) return;
    const auto bits = reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(bias) |
                      reinterpret_cast<std::uintptr_t>(residual) | reinterpret_cast<std::uintptr_t>(out);
    if (columns % 4 == 0 && bits % sizeof(float4) == 0 && size < (std::size_t{1} << 32)) {
        const auto quads = static_cast<unsigned int>(size / 4);
        const unsigned int blocks = (quads + threads * per_thread - 1) / (threads * per_thread);
        flat_kernel<<<blocks, threads>>>(reinterpret_cast<const float4*>(x), reinterpret_cast<const float4*>(bias),
                                         reinterpret_cast<const float4*>(residual), reinterpret_cast<float4*>(out),
                                         quads, static_cast<unsigned int>(columns / 4));
    } else {
        const auto blocks = static_cast<unsigned int>((size + threads - 1) / threads);
        plain_kernel<<<blocks, threads>>>(x, bias, residual, out, size, columns);
    }
}
