// One thread for each sum.
#include <cstddef>
#include <cuda_bf16.h>

constexpr int THREADS = 16;

__global__ void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, size_t m, size_t n, size_t k) {
    const size_t row = blockIdx.y * size_t(THREADS) + threadIdx.y, col = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (size_t p = 0; p < k; ++p) sum += __bfloat162float(a[row * k + p]) * __bfloat162float(b[p * n + col]);
    c[row * n + col] = __float2bfloat16(sum);
}

extern "C" void solution(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, size_t m, size_t n, size_t k) {
    multiply<<<dim3((n + THREADS - 1) / THREADS, (m + THREADS - 1) / THREADS), dim3(THREADS, THREADS)>>>(a, b, c, m, n, k);
}
