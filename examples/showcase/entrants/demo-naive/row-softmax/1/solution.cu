#include <cmath>

#include "row_softmax.h"

constexpr int threads = 256;

__global__ void find_largest(const float* x, float* largest, std::size_t columns) {
    __shared__ float seen[threads];
    float mine = -INFINITY;
    for (std::size_t c = threadIdx.x; c < columns; c += threads) mine = fmaxf(mine, x[blockIdx.x * columns + c]);
    seen[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < threads; ++i) mine = fmaxf(mine, seen[i]);
        largest[blockIdx.x] = mine;
    }
}

__global__ void add_up(const float* x, const float* largest, float* sum, std::size_t columns) {
    __shared__ float seen[threads];
    const float shift = largest[blockIdx.x];
    float mine = 0.0f;
    if (shift != -INFINITY) {
        for (std::size_t c = threadIdx.x; c < columns; c += threads) mine += expf(x[blockIdx.x * columns + c] - shift);
    }
    seen[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < threads; ++i) mine += seen[i];
        sum[blockIdx.x] = mine;
    }
}

__global__ void divide(const float* x, const float* largest, const float* sum, float* out, std::size_t size,
                       std::size_t columns) {
    const std::size_t i = blockIdx.x * std::size_t{threads} + threadIdx.x;
    if (i >= size) return;
    const std::size_t row = i / columns;
    out[i] = sum[row] > 0.0f ? expf(x[i] - largest[row]) / sum[row] : 0.0f;
}

// Three kernels with the rows' facts in memory between them.
void row_softmax(const float* x, float* out, std::size_t rows, std::size_t columns) {
    const std::size_t size = rows * columns;
    if (size == 0) return;
    float* largest = nullptr;
    float* sum = nullptr;
    cudaMalloc(&largest, rows * sizeof(float));
    cudaMalloc(&sum, rows * sizeof(float));
    find_largest<<<static_cast<unsigned int>(rows), threads>>>(x, largest, columns);
    add_up<<<static_cast<unsigned int>(rows), threads>>>(x, largest, sum, columns);
    divide<<<static_cast<unsigned int>((size + threads - 1) / threads), threads>>>(x, largest, sum, out, size, columns);
    cudaFree(sum);
    cudaFree(largest);
}
