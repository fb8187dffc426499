#include "matmul_fp32.h"

constexpr int tile = 16;

__global__ void matmul_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float as[tile][tile];
    __shared__ float bs[tile][tile];
    const int row = blockIdx.y * tile + threadIdx.y;
    const int column = blockIdx.x * tile + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (k + tile - 1) / tile; ++t) {
        const int i = t * tile + threadIdx.x;
        const int j = t * tile + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = (row < m && i < k) ? a[row * k + i] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = (j < k && column < n) ? b[j * n + column] : 0.0f;
        __syncthreads();
        for (int i2 = 0; i2 < tile; ++i2) sum += as[threadIdx.y][i2] * bs[i2][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(static_cast<unsigned int>((n + tile - 1) / tile), static_cast<unsigned int>((m + tile - 1) / tile));
    matmul_kernel<<<grid, dim3(tile, tile)>>>(a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
}
