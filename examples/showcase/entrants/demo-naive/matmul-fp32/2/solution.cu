#include "matmul_fp32.h"

// Neighbouring threads take neighbouring rows, so every access to a and c is a cache line of its own.
__global__ void matmul_kernel(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    const std::size_t row = blockIdx.x * std::size_t{16} + threadIdx.x;
    const std::size_t column = blockIdx.y * std::size_t{16} + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (std::size_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(static_cast<unsigned int>((m + 15) / 16), static_cast<unsigned int>((n + 15) / 16));
    matmul_kernel<<<grid, dim3(16, 16)>>>(a, b, c, m, n, k);
}
