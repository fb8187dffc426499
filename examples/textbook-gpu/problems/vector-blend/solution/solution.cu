#include "vector_blend.h"

__global__ static void blend_elements(const float* x, const float* y, float a, float b, float* blend, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) blend[i] = a * x[i] + b * y[i];
}

void vector_blend(const float* x, const float* y, float a, float b, float* blend, int count) {
    constexpr int threads = 256;
    if (count == 0) return;
    blend_elements<<<(count + threads - 1) / threads, threads>>>(x, y, a, b, blend, count);
}
