#include "spmv_ell.h"

__global__ static void multiply(const int* columns, const float* values, const float* x, float* y, int rows, int slots) {
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
        float sum = 0.0f;
        for (int place = row; place < slots; place += rows) {
            if (columns[place] != -1) sum = fmaf(values[place], x[columns[place]], sum);
        }
        y[row] = sum;
    }
}

void spmv_ell(const int* columns, const float* values, const float* x, float* y, int rows, int width) {
    multiply<<<128, 128>>>(columns, values, x, y, rows, rows * width);
}
