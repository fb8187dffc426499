#include <cstdint>

#include "bias_gelu.h"

namespace {

constexpr int threads = 128;
constexpr int rows_at_once = 4;

__device__ __forceinline__ float one(float x, float bias, float residual) {
    const float v = x + bias;
    return residual + 0.5f * v * (1.0f + erff(v * 0.70710678f));
}

template <class T>
__device__ __forceinline__ T combine(T x, T bias, T residual);

template <>
__device__ __forceinline__ float combine(float x, float bias, float residual) {
    return one(x, bias, residual);
}

template <>
__device__ __forceinline__ float4 combine(float4 x, float4 bias, float4 residual) {
    return make_float4(one(x.x, bias.x, residual.x), one(x.y, bias.y, residual.y), one(x.z, bias.z, residual.z),
                       one(x.w, bias.w, residual.w));
}

// A thread keeps its column's bias in registers, walks down the rows and has loads of several rows in flight.
template <class T>
__global__ void __launch_bounds__(threads)
    strip_kernel(const T* x, const T* bias, const T* residual, T* out, std::size_t rows, std::size_t columns) {
    const std::size_t c = blockIdx.x * std::size_t{threads} + threadIdx.x;
    if (c >= columns) return;
    const T b = bias[c];
    for (std::size_t row = blockIdx.y * std::size_t{rows_at_once}; row < rows; row += gridDim.y * std::size_t{rows_at_once}) {
        T a[rows_at_once];
        T r[rows_at_once];
#pragma unroll
        for (int k = 0; k < rows_at_once; ++k) {
            if (row + k < rows) {
                a[k] = __ldcs(x + (row + k) * columns + c);
                r[k] = __ldcs(residual + (row + k) * columns + c);
            }
        }
#pragma unroll
        for (int k = 0; k < rows_at_once; ++k) {
            if (row + k < rows) out[(row + k) * columns + c] = combine(a[k], b, r[k]);
        }
    }
}

template <class T>
void launch(const T* x, const T* bias, const T* residual, T* out, std::size_t rows, std::size_t columns) {
    const std::size_t down = (rows + rows_at_once - 1) / rows_at_once;
    const dim3 grid(static_cast<unsigned int>((columns + threads - 1) / threads),
                    static_cast<unsigned int>(down < 4096 ? down : 4096));
    strip_kernel<T><<<grid, threads>>>(x, bias, residual, out, rows, columns);
}

const float4* wide(const float* pointer) { return reinterpret_cast<const float4*>(pointer); }

}  // namespace

void bias_gelu(const float* x, const float* bias, const float* residual, float* out, std::size_t rows,
               std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    const auto bits = reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(bias) |
                      reinterpret_cast<std::uintptr_t>(residual) | reinterpret_cast<std::uintptr_t>(out);
    if (columns % 4 == 0 && bits % sizeof(float4) == 0) {
        launch(wide(x), wide(bias), wide(residual), reinterpret_cast<float4*>(out), rows, columns / 4);
    } else {
        launch(x, bias, residual, out, rows, columns);
    }
}
