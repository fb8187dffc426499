#include "matmul.h"

constexpr int tile = 16;

__global__ static void multiply(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    __shared__ float a[tile][tile], b[tile][tile];
    const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < depth; start += tile) {
        const int across = start + threadIdx.x, down = start + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = row < rows && across < depth ? left[row * depth + across] : 0.0f;
        b[threadIdx.y][threadIdx.x] = column < columns && down < depth ? right[down * columns + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < tile; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns) product[row * columns + column] = sum;
}

void matmul(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    if (rows == 0 || columns == 0) return;
    const dim3 blocks((columns + tile - 1) / tile, (rows + tile - 1) / tile);
    multiply<<<blocks, dim3(tile, tile)>>>(left, right, product, rows, depth, columns);
}
