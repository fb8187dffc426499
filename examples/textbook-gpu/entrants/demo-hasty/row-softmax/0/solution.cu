#include "row_softmax.h"

__global__ void kernel(const float* scores, float* shares, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    const float* s = scores + i * columns;
    float m = s[0], sum = 0;
    for (int j = 1; j < columns; j++) m = fmaxf(m, s[j]);
    for (int j = 0; j < columns; j++) sum += expf(s[j] - m);
    for (int j = 0; j < columns; j++) shares[i * columns + j] = expf(s[j] - m) / sum;
}

void row_softmax(const float* scores, float* shares, int rows, int columns) {
    kernel<<<rows / 128 + 1, 128>>>(scores, shares, rows, columns);
}
