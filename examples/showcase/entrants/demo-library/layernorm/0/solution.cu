#include "layernorm.h"

#include <cub/block/block_reduce.cuh>
#include <cuda_runtime.h>

namespace {

constexpr int threads = 256;

// How many values there are, their mean and the sum of their squared distances from it (Chan, Golub and LeVeque).
struct Moments {
    float count;
    float mean;
    float squares;
};

struct Merge {
    __device__ Moments operator()(Moments left, Moments right) const {
        const float count = left.count + right.count;
        if (count == 0.0f) return left;
        const float distance = right.mean - left.mean;
        const float share = right.count / count;
        return {count, left.mean + distance * share,
                left.squares + right.squares + distance * distance * left.count * share};
    }
};

__global__ void __launch_bounds__(threads)
    normalise_rows(const float* x, const float* gamma, const float* beta, float* y, int columns, float epsilon) {
    using Reduce = cub::BlockReduce<Moments, threads>;
    __shared__ Reduce::TempStorage storage;
    __shared__ float mean, scale;
    const float* row = x + static_cast<std::size_t>(blockIdx.x) * columns;
    float* out = y + static_cast<std::size_t>(blockIdx.x) * columns;
    Moments mine{0.0f, 0.0f, 0.0f};
    for (int c = threadIdx.x; c < columns; c += threads) mine = Merge{}(mine, Moments{1.0f, row[c], 0.0f});
    const Moments all = Reduce(storage).Reduce(mine, Merge{});
    if (threadIdx.x == 0) {
        mean = all.mean;
        scale = rsqrtf(all.squares / columns + epsilon);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < columns; c += threads) out[c] = (row[c] - mean) * scale * gamma[c] + beta[c];
}

}  // namespace

void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int columns, float epsilon) {
    if (rows > 0) normalise_rows<<<rows, threads>>>(x, gamma, beta, y, columns, epsilon);
}
