// The function to implement.
#pragma once

// clamped[i] = values[i], but at least `low` and at most `high`, for i in [0, count) and any one-dimensional grid.
__global__ void grid_stride_clamp(const float* values, float* clamped, int count, float low, float high);
