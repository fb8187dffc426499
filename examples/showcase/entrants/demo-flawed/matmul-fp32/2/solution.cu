#include "matmul_fp32.h"

constexpr int tile = 32;

// Nothing wrong with this one: it keeps four rows' sums in registers.
__global__ void matmul_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[tile][tile + 1];
    __shared__ float b_tile[tile][tile];
    const int column = blockIdx.x * tile + threadIdx.x;
    const int first_row = blockIdx.y * tile;
    float sum[4] = {};
    for (int first = 0; first < k; first += tile) {
        for (int y = threadIdx.y; y < tile; y += 8) {
            const bool in_a = first_row + y < m && first + static_cast<int>(threadIdx.x) < k;
            a_tile[y][threadIdx.x] = in_a ? a[static_cast<long>(first_row + y) * k + first + threadIdx.x] : 0.0f;
            b_tile[y][threadIdx.x] = first + y < k && column < n ? b[static_cast<long>(first + y) * n + column] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < tile; ++i) {
            const float right = b_tile[i][threadIdx.x];
            for (int part = 0; part < 4; ++part) sum[part] += a_tile[threadIdx.y + 8 * part][i] * right;
        }
        __syncthreads();
    }
    for (int part = 0; part < 4; ++part) {
        const int row = first_row + threadIdx.y + 8 * part;
        if (row < m && column < n) c[static_cast<long>(row) * n + column] = sum[part];
    }
}

void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(static_cast<unsigned int>((n + tile - 1) / tile), static_cast<unsigned int>((m + tile - 1) / tile));
    matmul_kernel<<<grid, dim3(tile, 8)>>>(a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
}
