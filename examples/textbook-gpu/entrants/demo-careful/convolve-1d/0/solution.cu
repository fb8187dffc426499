#include "convolve_1d.h"

constexpr int threads = 128;
constexpr int most_radius = 31;

__global__ static void convolve(const float* signal, const float* weights, float* result, int count, int radius) {
    __shared__ float near[threads + 2 * most_radius];
    const int first = blockIdx.x * threads - radius;
    for (int t = threadIdx.x; t < threads + 2 * radius; t += threads) {
        const int place = first + t;
        near[t] = place >= 0 && place < count ? signal[place] : 0.0f;
    }
    __syncthreads();
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    float sum = 0.0f;
    for (int j = 0; j <= 2 * radius; ++j) sum += weights[j] * near[threadIdx.x + 2 * radius - j];
    result[i] = sum;
}

void convolve_1d(const float* signal, const float* weights, float* result, int count, int radius) {
    if (count > 0) convolve<<<(count + threads - 1) / threads, threads>>>(signal, weights, result, count, radius);
}
