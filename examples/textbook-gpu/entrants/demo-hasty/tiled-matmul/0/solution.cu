#include "tiled_matmul.h"

#define TILE 16

__global__ void kernel(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < depth / TILE; t++) {
        a[threadIdx.y][threadIdx.x] = row < rows ? left[row * depth + t * TILE + threadIdx.x] : 0;
        b[threadIdx.y][threadIdx.x] = column < columns ? right[column * depth + t * TILE + threadIdx.y] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns) product[row * columns + column] = sum;
}

void tiled_matmul(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    if (rows && columns)
        kernel<<<dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(left, right, product, rows, depth, columns);
}
