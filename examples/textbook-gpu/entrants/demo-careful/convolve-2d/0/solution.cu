#include "convolve_2d.h"

constexpr int most_weights = 256;

__device__ static int nearest(int place, int size) { return place < 0 ? 0 : place >= size ? size - 1 : place; }

__global__ static void filter(const float* image, const float* weights, float* filtered, int rows, int columns,
                              int filter_rows, int filter_columns) {
    __shared__ float ours[most_weights];
    for (int w = threadIdx.x; w < filter_rows * filter_columns; w += blockDim.x) ours[w] = weights[w];
    __syncthreads();
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= rows * columns) return;
    const int top = pixel / columns - filter_rows / 2, left = pixel % columns - filter_columns / 2;
    float sum = 0.0f;
    for (int w = 0; w < filter_rows * filter_columns; ++w) {
        const int row = nearest(top + w / filter_columns, rows), column = nearest(left + w % filter_columns, columns);
        sum += ours[w] * image[row * columns + column];
    }
    filtered[pixel] = sum;
}

void convolve_2d(const float* image, const float* weights, float* filtered, int rows, int columns, int filter_rows,
                 int filter_columns) {
    const int pixels = rows * columns;
    if (pixels > 0) {
        filter<<<(pixels + 255) / 256, 256>>>(image, weights, filtered, rows, columns, filter_rows, filter_columns);
    }
}
