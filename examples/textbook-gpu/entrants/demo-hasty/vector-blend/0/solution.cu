#include "vector_blend.h"

__global__ void kernel(const float* x, const float* y, float a, float b, float* blend, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= count) blend[i] = a * x[i] + b * y[i];
}

void vector_blend(const float* x, const float* y, float a, float b, float* blend, int count) {
    kernel<<<count / 256 + 1, 256>>>(x, y, a, b, blend, count);
}
