#include "tiled_matmul.h"

constexpr int side = 32;

__global__ static void multiply(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    __shared__ float a[side][side + 1];
    __shared__ float b[side][side + 1];
    const int i = blockIdx.y * side + threadIdx.y, j = blockIdx.x * side + threadIdx.x;
    const int other = blockIdx.x * side + threadIdx.y;
    float sum = 0.0f;
    for (int tile = 0; tile < (depth + side - 1) / side; ++tile) {
        const int k = tile * side + threadIdx.x;
        a[threadIdx.y][threadIdx.x] = i < rows && k < depth ? left[i * depth + k] : 0.0f;
        b[threadIdx.x][threadIdx.y] = other < columns && k < depth ? right[other * depth + k] : 0.0f;
        __syncthreads();
        for (int at = 0; at < side; ++at) sum += a[threadIdx.y][at] * b[at][threadIdx.x];
        __syncthreads();
    }
    if (i < rows && j < columns) product[i * columns + j] = sum;
}

void tiled_matmul(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    if (rows == 0 || columns == 0) return;
    multiply<<<dim3((columns + side - 1) / side, (rows + side - 1) / side), dim3(side, side)>>>(left, right, product, rows, depth,
                                                                                             columns);
}
