#include "convolve_2d.h"

__global__ void kernel(const float* image, const float* weights, float* filtered, int rows, int columns, int fr, int fc) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= columns) return;
    float sum = 0;
    for (int a = 0; a < fr; a++)
        for (int b = 0; b < fc; b++) {
            int row = i + a - fr / 2, column = j + b - fc / 2;
            if (row >= 0 && row < rows && column >= 0 && column < columns) sum += weights[a * fc + b] * image[row * columns + column];
        }
    filtered[i * columns + j] = sum;
}

void convolve_2d(const float* image, const float* weights, float* filtered, int rows, int columns, int filter_rows,
                 int filter_columns) {
    if (rows && columns)
        kernel<<<dim3(columns / 16 + 1, rows / 16 + 1), dim3(16, 16)>>>(image, weights, filtered, rows, columns, filter_rows,
                                                                         filter_columns);
}
