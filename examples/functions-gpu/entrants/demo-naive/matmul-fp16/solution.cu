// One thread for each sum.
#include <cstddef>
#include <cuda_fp16.h>

constexpr int THREADS = 16;

__global__ void multiply(const __half* a, const __half* b, __half* c, size_t m, size_t n, size_t k) {
    const size_t row = blockIdx.y * size_t(THREADS) + threadIdx.y, col = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (size_t p = 0; p < k; ++p) sum += __half2float(a[row * k + p]) * __half2float(b[p * n + col]);
    c[row * n + col] = __float2half(sum);
}

extern "C" void solution(const __half* a, const __half* b, __half* c, size_t m, size_t n, size_t k) {
    multiply<<<dim3((n + THREADS - 1) / THREADS, (m + THREADS - 1) / THREADS), dim3(THREADS, THREADS)>>>(a, b, c, m, n, k);
}
