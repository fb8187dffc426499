#include "matmul_fp32.h"

// One thread per element of c.
__global__ void matmul_kernel(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    const std::size_t column = blockIdx.x * blockDim.x + threadIdx.x;
    const std::size_t row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (std::size_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m == 0 || n == 0) return;
    const dim3 block(32, 8);
    const dim3 grid(static_cast<unsigned int>((n + 31) / 32), static_cast<unsigned int>((m + 7) / 8));
    matmul_kernel<<<grid, block>>>(a, b, c, m, n, k);
}
