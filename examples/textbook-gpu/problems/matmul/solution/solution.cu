#include "matmul.h"

__global__ static void multiply(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) return;
    float sum = 0.0f;
    for (int k = 0; k < depth; ++k) sum += left[row * depth + k] * right[k * columns + column];
    product[row * columns + column] = sum;
}

void matmul(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    if (rows == 0 || columns == 0) return;
    const dim3 threads(16, 16);
    const dim3 blocks((columns + 15) / 16, (rows + 15) / 16);
    multiply<<<blocks, threads>>>(left, right, product, rows, depth, columns);
}
