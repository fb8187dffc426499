#include "row_softmax.h"

// A warp for each row.
__global__ static void divide_up(const float* scores, float* shares, int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* from = scores + static_cast<size_t>(row) * columns;
    float* to = shares + static_cast<size_t>(row) * columns;
    float largest = -INFINITY, sum = 0.0f;
    for (int j = lane; j < columns; j += 32) largest = fmaxf(largest, from[j]);
    for (int distance = 16; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
    }
    if (largest == -INFINITY) largest = 0.0f;
    for (int j = lane; j < columns; j += 32) sum += expf(from[j] - largest);
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    for (int j = lane; j < columns; j += 32) to[j] = sum > 0.0f ? expf(from[j] - largest) / sum : 0.0f;
}

void row_softmax(const float* scores, float* shares, int rows, int columns) {
    if (rows > 0) divide_up<<<(rows + 3) / 4, 128>>>(scores, shares, rows, columns);
}
