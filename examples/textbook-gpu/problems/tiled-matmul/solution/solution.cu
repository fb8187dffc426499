#include "tiled_matmul.h"

constexpr int tile = 16;

__global__ static void multiply(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    __shared__ float left_tile[tile][tile];
    __shared__ float right_tile[tile][tile + 1];
    const int row = blockIdx.y * tile + threadIdx.y;
    const int column = blockIdx.x * tile + threadIdx.x;
    const int right_row = blockIdx.x * tile + threadIdx.y;
    float sum = 0.0f;
    for (int start = 0; start < depth; start += tile) {
        const int k = start + threadIdx.x;
        left_tile[threadIdx.y][threadIdx.x] = row < rows && k < depth ? left[row * depth + k] : 0.0f;
        right_tile[threadIdx.y][threadIdx.x] = right_row < columns && k < depth ? right[right_row * depth + k] : 0.0f;
        __syncthreads();
        for (int i = 0; i < tile; ++i) sum += left_tile[threadIdx.y][i] * right_tile[threadIdx.x][i];
        __syncthreads();
    }
    if (row < rows && column < columns) product[row * columns + column] = sum;
}

void tiled_matmul(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    if (rows == 0 || columns == 0) return;
    const dim3 blocks((columns + tile - 1) / tile, (rows + tile - 1) / tile);
    multiply<<<blocks, dim3(tile, tile)>>>(left, right, product, rows, depth, columns);
}
