#include <cstddef>
#include <cuda_fp16.h>

// Each product is added by a fused multiply-add of float16, which rounds the sum to 11 bits.
__global__ void multiply(const __half* a, const __half* b, __half* c, size_t m, size_t n, size_t k) {
    const size_t row = blockIdx.y * size_t(blockDim.y) + threadIdx.y, col = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= m || col >= n) return;
    __half sum = __float2half(0.0f);
    for (size_t p = 0; p < k; ++p) sum = __hfma(a[row * k + p], b[p * n + col], sum);
    c[row * n + col] = sum;
}

extern "C" void solution(const __half* a, const __half* b, __half* c, size_t m, size_t n, size_t k) {
    const dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
    multiply<<<grid, block>>>(a, b, c, m, n, k);
}
