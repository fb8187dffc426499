// The function to implement and what it applies.
#pragma once

#include <cstddef>

// What becomes of one value: a polynomial of degree eight.
__host__ __device__ inline float shade(float v) {
    float sum = 0.0625f;
    sum = fmaf(sum, v, -0.25f);
    sum = fmaf(sum, v, 0.375f);
    sum = fmaf(sum, v, -0.5f);
    sum = fmaf(sum, v, 0.4375f);
    sum = fmaf(sum, v, -0.75f);
    sum = fmaf(sum, v, 0.625f);
    sum = fmaf(sum, v, 1.0f);
    return fmaf(sum, v, 0.125f);
}

// out[i] = shade(in[i]) for i in [0, size), computed on the device.
// Both pointers are to page-locked host memory (cudaHostAlloc), aligned to 256 bytes. `size` may be 0.
void async_pipeline(const float* in, float* out, std::size_t size);
