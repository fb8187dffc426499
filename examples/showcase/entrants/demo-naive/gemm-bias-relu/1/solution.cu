#include "gemm_bias_relu.h"

constexpr int tile = 16;

// The textbook's tiles in shared memory.
__global__ void layer(const __half* a, const __half* b, const __half* bias, __half* c, int m, int n, int k) {
    __shared__ float a_tile[tile][tile];
    __shared__ float b_tile[tile][tile];
    const int i = blockIdx.y * tile + threadIdx.y;
    const int j = blockIdx.x * tile + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += tile) {
        const int a_column = start + threadIdx.x;
        const int b_row = start + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = i < m && a_column < k ? __half2float(a[size_t(i) * k + a_column]) : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < k && j < n ? __half2float(b[size_t(b_row) * n + j]) : 0.0f;
        __syncthreads();
        for (int p = 0; p < tile; ++p) sum += a_tile[threadIdx.y][p] * b_tile[p][threadIdx.x];
        __syncthreads();
    }
    if (i < m && j < n) c[size_t(i) * n + j] = __float2half(fmaxf(sum + __half2float(bias[j]), 0.0f));
}

void gemm_bias_relu(const __half* a, const __half* b, const __half* bias, __half* c, int m, int n, int k) {
    layer<<<dim3((n + tile - 1) / tile, (m + tile - 1) / tile), dim3(tile, tile)>>>(a, b, bias, c, m, n, k);
}
