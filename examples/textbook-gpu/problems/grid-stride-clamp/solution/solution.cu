#include "grid_stride_clamp.h"

__global__ void grid_stride_clamp(const float* values, float* clamped, int count, float low, float high) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        clamped[i] = fminf(fmaxf(values[i], low), high);
    }
}
