#include "layernorm.h"

#include <cuda_runtime.h>

// A warp per row. Divides the squares by one less than their number, as for a sample.
__global__ static void layernorm_kernel(const float* x, const float* gamma, const float* beta, float* y, int rows,
                                        int columns, float epsilon) {
    int row = blockIdx.x * 4 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* in = x + (size_t)row * columns;
    float sum = 0;
    for (int c = lane; c < columns; c += 32) sum += in[c];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    float mean = sum / columns;
    float squares = 0;
    for (int c = lane; c < columns; c += 32) squares += (in[c] - mean) * (in[c] - mean);
    for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, offset);
    float scale = rsqrtf(squares / (columns > 1 ? columns - 1 : 1) + epsilon);
    for (int c = lane; c < columns; c += 32) y[(size_t)row * columns + c] = (in[c] - mean) * scale * gamma[c] + beta[c];
}

void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int columns, float epsilon) {
    if (rows > 0) layernorm_kernel<<<(rows + 3) / 4, 128>>>(x, gamma, beta, y, rows, columns, epsilon);
}
