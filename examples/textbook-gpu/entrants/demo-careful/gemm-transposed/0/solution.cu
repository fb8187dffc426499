#include "gemm_transposed.h"

__global__ static void multiply(float alpha, const float* left, const float* right, float beta, float* sum, int rows, int depth,
                                int columns) {
    const int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= rows * columns) return;
    const int i = place / columns, j = place % columns;
    float product = 0.0f;
    for (int k = 0; k < depth; ++k) product += left[k * rows + i] * right[k * columns + j];
    float result = alpha * product;
    if (beta != 0.0f) result += beta * sum[place];
    sum[place] = result;
}

void gemm_transposed(float alpha, const float* left, const float* right, float beta, float* sum, int rows, int depth,
                     int columns) {
    const int size = rows * columns;
    if (size > 0) multiply<<<(size + 127) / 128, 128>>>(alpha, left, right, beta, sum, rows, depth, columns);
}
