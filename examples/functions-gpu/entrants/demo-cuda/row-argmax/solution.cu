// One block for each row. Each thread keeps the first of its largest; warps and then the block choose among them.
#include <cstddef>
#include <cstdint>

constexpr int THREADS = 256, WARPS = THREADS / 32;

struct Best {
    float value;
    unsigned at;
};

__device__ Best better(Best left, Best right) {
    const bool is_right = right.value > left.value || (right.value == left.value && right.at < left.at);
    return is_right ? right : left;
}

__device__ Best over_warp(Best mine) {
    for (int offset = 16; offset > 0; offset /= 2) {
        const Best other = {__shfl_xor_sync(0xFFFFFFFF, mine.value, offset), __shfl_xor_sync(0xFFFFFFFF, mine.at, offset)};
        mine = better(mine, other);
    }
    return mine;
}

__global__ void find(const float* x, int64_t* place, size_t cols) {
    __shared__ Best warps[WARPS];
    x += blockIdx.x * cols;
    Best mine = {-INFINITY, 0xFFFFFFFF};
    for (size_t col = threadIdx.x; col < cols; col += THREADS) {
        const float value = x[col];
        if (value > mine.value) mine = {value, unsigned(col)};
    }
    mine = over_warp(mine);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < WARPS; ++warp) mine = better(mine, warps[warp]);
        place[blockIdx.x] = mine.at;
    }
}

extern "C" void solution(const float* x, int64_t* place, size_t rows, size_t cols) {
    find<<<rows, THREADS>>>(x, place, cols);
}
