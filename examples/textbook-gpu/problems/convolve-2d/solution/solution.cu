#include "convolve_2d.h"

__global__ static void filter(const float* image, const float* weights, float* filtered, int rows, int columns,
                              int filter_rows, int filter_columns) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= columns) return;
    float sum = 0.0f;
    for (int a = 0; a < filter_rows; ++a) {
        const int row = min(max(i + a - filter_rows / 2, 0), rows - 1);
        for (int b = 0; b < filter_columns; ++b) {
            const int column = min(max(j + b - filter_columns / 2, 0), columns - 1);
            sum += weights[a * filter_columns + b] * image[row * columns + column];
        }
    }
    filtered[i * columns + j] = sum;
}

void convolve_2d(const float* image, const float* weights, float* filtered, int rows, int columns, int filter_rows,
                 int filter_columns) {
    if (rows == 0 || columns == 0) return;
    const dim3 threads(32, 8);
    const dim3 blocks((columns + 31) / 32, (rows + 7) / 8);
    filter<<<blocks, threads>>>(image, weights, filtered, rows, columns, filter_rows, filter_columns);
}
