#include "matmul.h"

__global__ void kernel(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * columns) return;
    float sum = 0;
    for (int k = 0; k < depth; k++) sum += left[i / columns * depth + k] * right[k * columns + i % columns];
    product[i] = sum;
}

void matmul(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    if (rows * columns > 0) kernel<<<rows * columns / 128 + 1, 128>>>(left, right, product, rows, depth, columns);
}
