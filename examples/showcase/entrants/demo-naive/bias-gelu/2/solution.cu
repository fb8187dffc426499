#include "bias_gelu.h"

__global__ void bias_gelu_kernel(const float* x, const float* bias, const float* residual, float* out,
                                 std::size_t rows, std::size_t columns) {
    const std::size_t c = blockIdx.x * std::size_t{32} + threadIdx.x;
    const std::size_t r = blockIdx.y * std::size_t{8} + threadIdx.y;
    if (r >= rows || c >= columns) return;
    const std::size_t i = r * columns + c;
    const float v = x[i] + bias[c];
    out[i] = residual[i] + 0.5f * v * (1.0f + erff(v * 0.70710678f));
}

void bias_gelu(const float* x, const float* bias, const float* residual, float* out, std::size_t rows,
               std::size_t columns) {
    const dim3 block(32, 8);
    const dim3 grid(static_cast<unsigned int>((columns + 31) / 32), static_cast<unsigned int>((rows + 7) / 8));
    bias_gelu_kernel<<<grid, block>>>(x, bias, residual, out, rows, columns);
}
