#include <cub/block/block_reduce.cuh>

#include <cmath>

#include "row_softmax.h"

constexpr int threads = 256;

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

__global__ void __launch_bounds__(threads) softmax(const float* x, float* out, std::size_t columns) {
    using Reduce = cub::BlockReduce<float, threads>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ float shift;
    __shared__ float scale;
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float largest = -INFINITY;
    for (std::size_t c = threadIdx.x; c < columns; c += threads) largest = fmaxf(largest, x[c]);
    largest = Reduce(storage).Reduce(largest, Larger{});
    if (threadIdx.x == 0) shift = largest == -INFINITY ? 0.0f : largest;
    __syncthreads();
    float sum = 0.0f;
    for (std::size_t c = threadIdx.x; c < columns; c += threads) sum += expf(x[c] - shift);
    sum = Reduce(storage).Sum(sum);
    if (threadIdx.x == 0) scale = sum > 0.0f ? 1.0f / sum : 0.0f;
    __syncthreads();
    for (std::size_t c = threadIdx.x; c < columns; c += threads) out[c] = expf(x[c] - shift) * scale;
}

void row_softmax(const float* x, float* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    softmax<<<static_cast<unsigned int>(rows), threads>>>(x, out, columns);
}
