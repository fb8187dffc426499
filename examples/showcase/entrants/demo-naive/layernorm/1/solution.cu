#include "layernorm.h"

#include <cuda_runtime.h>

// A block per row; sums and sums of squares in one go, in double precision.
__global__ static void layernorm_kernel(const float* x, const float* gamma, const float* beta, float* y, int columns,
                                        float epsilon) {
    __shared__ double sums[128];
    __shared__ double squares[128];
    const float* row = x + (size_t)blockIdx.x * columns;
    double sum = 0, square = 0;
    for (int c = threadIdx.x; c < columns; c += 128) {
        double value = row[c];
        sum += value;
        square += value * value;
    }
    sums[threadIdx.x] = sum;
    squares[threadIdx.x] = square;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            sums[threadIdx.x] += sums[threadIdx.x + step];
            squares[threadIdx.x] += squares[threadIdx.x + step];
        }
        __syncthreads();
    }
    double mean = sums[0] / columns;
    double variance = squares[0] / columns - mean * mean;
    if (variance < 0) variance = 0;
    double scale = 1.0 / sqrt(variance + epsilon);
    for (int c = threadIdx.x; c < columns; c += 128)
        y[(size_t)blockIdx.x * columns + c] = (row[c] - mean) * scale * gamma[c] + beta[c];
}

void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int columns, float epsilon) {
    if (rows > 0) layernorm_kernel<<<rows, 128>>>(x, gamma, beta, y, columns, epsilon);
}
