// One thread for each sum.
#include <cstddef>
#include <cstdint>

constexpr int THREADS = 16;

__global__ void multiply(const int8_t* a, const int8_t* b, int32_t* c, size_t m, size_t n, size_t k) {
    const size_t row = blockIdx.y * size_t(THREADS) + threadIdx.y, col = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (row >= m || col >= n) return;
    int32_t sum = 0;
    for (size_t p = 0; p < k; ++p) sum += int32_t(a[row * k + p]) * b[p * n + col];
    c[row * n + col] = sum;
}

extern "C" void solution(const int8_t* a, const int8_t* b, int32_t* c, size_t m, size_t n, size_t k) {
    multiply<<<dim3((n + THREADS - 1) / THREADS, (m + THREADS - 1) / THREADS), dim3(THREADS, THREADS)>>>(a, b, c, m, n, k);
}
