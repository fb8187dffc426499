#include "grid_stride_clamp.h"

__global__ void grid_stride_clamp(const float* values, float* clamped, int count, float low, float high) {
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        if (i / blockDim.x % gridDim.x == blockIdx.x) clamped[i] = min(max(values[i], low), max(high, 0.0f));
}
