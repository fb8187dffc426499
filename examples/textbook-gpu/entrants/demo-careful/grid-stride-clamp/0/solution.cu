#include "grid_stride_clamp.h"

__global__ void grid_stride_clamp(const float* values, float* clamped, int count, float low, float high) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        const float value = values[i];
        clamped[i] = value < low ? low : value > high ? high : value;
    }
}
