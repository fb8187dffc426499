#include "spmv_ell.h"

__global__ void kernel(const int* columns, const float* values, const float* x, float* y, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows || width == 0) return;
    float sum = 0;
    for (int s = 0; s < width; s++) {
        int c = columns[s * rows + r];
        if (c > 0) sum += values[s * rows + r] * x[c];
    }
    y[r] = sum;
}

void spmv_ell(const int* columns, const float* values, const float* x, float* y, int rows, int width) {
    kernel<<<rows / 256 + 1, 256>>>(columns, values, x, y, rows, width);
}
