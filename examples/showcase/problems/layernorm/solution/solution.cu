#include "layernorm.h"

#include <cuda_runtime.h>

namespace {

constexpr int threads = 256;

// The sum over the block, for every thread.
__device__ float block_sum(float mine) {
    __shared__ float partial[threads];
    __syncthreads();
    partial[threadIdx.x] = mine;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    return partial[0];
}

// One block per row.
__global__ void normalise_rows(const float* x, const float* gamma, const float* beta, float* y, int columns,
                               float epsilon) {
    const float* row = x + static_cast<std::size_t>(blockIdx.x) * columns;
    float* out = y + static_cast<std::size_t>(blockIdx.x) * columns;
    float sum = 0;
    for (int c = threadIdx.x; c < columns; c += threads) sum += row[c];
    const float mean = block_sum(sum) / columns;
    float squares = 0;
    for (int c = threadIdx.x; c < columns; c += threads) squares += (row[c] - mean) * (row[c] - mean);
    const float scale = 1 / sqrtf(block_sum(squares) / columns + epsilon);
    for (int c = threadIdx.x; c < columns; c += threads) out[c] = (row[c] - mean) * scale * gamma[c] + beta[c];
}

}  // namespace

void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int columns, float epsilon) {
    if (rows > 0) normalise_rows<<<rows, threads>>>(x, gamma, beta, y, columns, epsilon);
}
