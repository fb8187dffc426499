#include "gemm_transposed.h"

__global__ void kernel(float alpha, const float* left, const float* right, float beta, float* sum, int rows, int depth, int columns) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= columns) return;
    sum[i * columns + j] *= beta;
    for (int k = 0; k < depth; k++) sum[i * columns + j] += alpha * left[k * rows + i] * right[k * columns + j];
}

void gemm_transposed(float alpha, const float* left, const float* right, float beta, float* sum, int rows, int depth,
                     int columns) {
    if (rows && columns)
        kernel<<<dim3(columns / 16 + 1, rows / 16 + 1), dim3(16, 16)>>>(alpha, left, right, beta, sum, rows, depth, columns);
}
