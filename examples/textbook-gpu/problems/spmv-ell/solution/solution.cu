#include "spmv_ell.h"

__global__ static void multiply(const int* columns, const float* values, const float* x, float* y, int rows, int width) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int slot = 0; slot < width; ++slot) {
        const int column = columns[slot * rows + row];
        if (column >= 0) sum += values[slot * rows + row] * x[column];
    }
    y[row] = sum;
}

void spmv_ell(const int* columns, const float* values, const float* x, float* y, int rows, int width) {
    if (rows > 0) multiply<<<(rows + 255) / 256, 256>>>(columns, values, x, y, rows, width);
}
