#include "bias_gelu.h"

namespace {

constexpr int threads = 256;

__global__ void bias_gelu_kernel(const float* x, const float* bias, const float* residual, float* out,
                                 std::size_t size, std::size_t columns) {
    const std::size_t i = blockIdx.x * std::size_t{threads} + threadIdx.x;
    if (i >= size) return;
    const float v = x[i] + bias[i % columns];
    out[i] = residual[i] + 0.5f * v * (1.0f + erff(v * 0.70710678f));
}

}  // namespace

void bias_gelu(const float* x, const float* bias, const float* residual, float* out, std::size_t rows,
               std::size_t columns) {
    const std::size_t size = rows * columns;
    if (size == 0) return;
    const auto blocks = static_cast<unsigned int>((size + threads - 1) / threads);
    bias_gelu_kernel<<<blocks, threads>>>(x, bias, residual, out, size, columns);
}
