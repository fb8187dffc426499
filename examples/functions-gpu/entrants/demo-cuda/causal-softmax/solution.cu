// One block for each row. Only scores up to the diagonal are read; zeros follow it.
#include <cstddef>

constexpr int THREADS = 256;

struct Largest {
    __device__ float operator()(float left, float right) const { return fmaxf(left, right); }
};

struct Sum {
    __device__ float operator()(float left, float right) const { return left + right; }
};

template <class Combine>
__device__ float over_block(float mine, Combine combine) {
    __shared__ float warps[THREADS / 32];
    for (int offset = 16; offset > 0; offset /= 2) mine = combine(mine, __shfl_xor_sync(0xFFFFFFFF, mine, offset));
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    float result = warps[0];
    for (int warp = 1; warp < THREADS / 32; ++warp) result = combine(result, warps[warp]);
    __syncthreads();
    return result;
}

__global__ void softmax_row(const float* scores, float* weights, float scale, size_t n) {
    const size_t seen = blockIdx.x % n + 1;
    scores += blockIdx.x * n;
    weights += blockIdx.x * n;
    float largest = -INFINITY;
    for (size_t col = threadIdx.x; col < seen; col += THREADS) largest = fmaxf(largest, scores[col] * scale);
    largest = over_block(largest, Largest());
    float sum = 0;
    for (size_t col = threadIdx.x; col < seen; col += THREADS) sum += expf(scores[col] * scale - largest);
    const float share = 1.0f / over_block(sum, Sum());
    for (size_t col = threadIdx.x; col < n; col += THREADS)
        weights[col] = col < seen ? expf(scores[col] * scale - largest) * share : 0.0f;
}

extern "C" void solution(const float* scores, float* weights, float scale, size_t heads, size_t n) {
    softmax_row<<<heads * n, THREADS>>>(scores, weights, scale, n);
}
