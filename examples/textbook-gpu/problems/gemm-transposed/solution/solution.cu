#include "gemm_transposed.h"

__global__ static void multiply(float alpha, const float* left, const float* right, float beta, float* sum, int rows, int depth,
                                int columns) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= columns) return;
    float product = 0.0f;
    for (int k = 0; k < depth; ++k) product += left[k * rows + i] * right[k * columns + j];
    float& place = sum[i * columns + j];
    place = beta == 0.0f ? alpha * product : alpha * product + beta * place;
}

void gemm_transposed(float alpha, const float* left, const float* right, float beta, float* sum, int rows, int depth,
                     int columns) {
    if (rows == 0 || columns == 0) return;
    const dim3 blocks((columns + 15) / 16, (rows + 15) / 16);
    multiply<<<blocks, dim3(16, 16)>>>(alpha, left, right, beta, sum, rows, depth, columns);
}
