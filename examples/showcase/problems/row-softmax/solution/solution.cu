#include <cmath>

#include "row_softmax.h"

namespace {

constexpr int threads = 256;

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

// The combination of all threads' values, for every thread.
template <class Combine>
__device__ float reduce(float value, Combine combine) {
    __shared__ float values[threads];
    values[threadIdx.x] = value;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (static_cast<int>(threadIdx.x) < half) values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + half]);
        __syncthreads();
    }
    const float result = values[0];
    __syncthreads();
    return result;
}

// One block per row: the largest element, then the sum, then the quotients.
__global__ void softmax_kernel(const float* x, float* out, std::size_t columns) {
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float largest = -INFINITY;
    for (std::size_t c = threadIdx.x; c < columns; c += threads) largest = fmaxf(largest, x[c]);
    largest = reduce(largest, Larger{});
    const float shift = largest == -INFINITY ? 0.0f : largest;
    float sum = 0.0f;
    for (std::size_t c = threadIdx.x; c < columns; c += threads) sum += expf(x[c] - shift);
    sum = reduce(sum, Sum{});
    const float scale = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (std::size_t c = threadIdx.x; c < columns; c += threads) out[c] = expf(x[c] - shift) * scale;
}

}  // namespace

void row_softmax(const float* x, float* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    softmax_kernel<<<static_cast<unsigned int>(rows), threads>>>(x, out, columns);
}
