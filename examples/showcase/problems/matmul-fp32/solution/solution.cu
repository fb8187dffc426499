#include "matmul_fp32.h"

namespace {

constexpr unsigned int tile = 32;

// A block computes 32 x 32 elements and keeps a tile of each factor in shared memory; zeros stand beyond the edges.
__global__ void matmul_kernel(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    __shared__ float a_tile[tile][tile];
    __shared__ float b_tile[tile][tile];
    const std::size_t row = blockIdx.y * std::size_t{tile} + threadIdx.y;
    const std::size_t column = blockIdx.x * std::size_t{tile} + threadIdx.x;
    float sum = 0.0f;
    for (std::size_t first = 0; first < k; first += tile) {
        const std::size_t a_column = first + threadIdx.x;
        const std::size_t b_row = first + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < m && a_column < k ? a[row * k + a_column] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < k && column < n ? b[b_row * n + column] : 0.0f;
        __syncthreads();
        for (unsigned int i = 0; i < tile; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

}  // namespace

void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(static_cast<unsigned int>((n + tile - 1) / tile), static_cast<unsigned int>((m + tile - 1) / tile));
    matmul_kernel<<<grid, dim3(tile, tile)>>>(a, b, c, m, n, k);
}
