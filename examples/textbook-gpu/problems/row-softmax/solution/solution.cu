#include "row_softmax.h"

constexpr int threads = 128;

__device__ static float largest_of(float mine, float* all) {
    all[threadIdx.x] = mine;
    for (int distance = threads / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) all[threadIdx.x] = fmaxf(all[threadIdx.x], all[threadIdx.x + distance]);
    }
    __syncthreads();
    return all[0];
}

__device__ static float sum_of(float mine, float* all) {
    __syncthreads();
    all[threadIdx.x] = mine;
    for (int distance = threads / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) all[threadIdx.x] += all[threadIdx.x + distance];
    }
    __syncthreads();
    return all[0];
}

__global__ static void divide_up(const float* scores, float* shares, int columns) {
    __shared__ float all[threads];
    const float* row = scores + static_cast<size_t>(blockIdx.x) * columns;
    float* out = shares + static_cast<size_t>(blockIdx.x) * columns;
    float largest = -INFINITY;
    for (int j = threadIdx.x; j < columns; j += threads) largest = fmaxf(largest, row[j]);
    largest = largest_of(largest, all);
    float sum = 0.0f;
    if (largest > -INFINITY) {
        for (int j = threadIdx.x; j < columns; j += threads) sum += expf(row[j] - largest);
    }
    sum = sum_of(sum, all);
    for (int j = threadIdx.x; j < columns; j += threads) out[j] = sum > 0.0f ? expf(row[j] - largest) / sum : 0.0f;
}

void row_softmax(const float* scores, float* shares, int rows, int columns) {
    if (rows > 0 && columns > 0) divide_up<<<rows, threads>>>(scores, shares, columns);
}
