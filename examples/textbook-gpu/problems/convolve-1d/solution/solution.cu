#include "convolve_1d.h"

__global__ static void convolve(const float* signal, const float* weights, float* result, int count, int radius) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 0.0f;
    for (int j = 0; j <= 2 * radius; ++j) {
        const int place = i + radius - j;
        if (place >= 0 && place < count) sum += weights[j] * signal[place];
    }
    result[i] = sum;
}

void convolve_1d(const float* signal, const float* weights, float* result, int count, int radius) {
    if (count > 0) convolve<<<(count + 255) / 256, 256>>>(signal, weights, result, count, radius);
}
