// One block for each row. Each thread knows its largest number that was not taken yet; k times the block takes the largest.
#include <cstddef>
#include <cstdint>

constexpr int THREADS = 256;
using Key = unsigned long long;  // the number in the upper half, the column in the lower: no two are equal, none is 0

__device__ Key key_of(float score, unsigned col) {
    const unsigned bits = __float_as_uint(score);
    const unsigned in_order = bits >> 31 ? ~bits : bits | 0x80000000u;
    return Key(in_order) << 32 | (0xFFFFFFFFu - col);
}

__device__ float score_of(Key key) {
    const unsigned in_order = unsigned(key >> 32);
    return __uint_as_float(in_order >> 31 ? in_order & 0x7FFFFFFFu : ~in_order);
}

// The largest key below `limit` of this thread's columns, or 0.
__device__ Key largest_below(const float* row, size_t cols, Key limit) {
    Key largest = 0;
    for (size_t col = threadIdx.x; col < cols; col += THREADS) {
        const Key key = key_of(row[col], unsigned(col));
        if (key < limit && key > largest) largest = key;
    }
    return largest;
}

__device__ Key over_block(Key mine) {
    __shared__ Key warps[THREADS / 32];
    for (int offset = 16; offset > 0; offset /= 2) {
        const Key other = __shfl_xor_sync(0xFFFFFFFF, mine, offset);
        if (other > mine) mine = other;
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    Key largest = warps[0];
    for (int warp = 1; warp < THREADS / 32; ++warp)
        if (warps[warp] > largest) largest = warps[warp];
    __syncthreads();
    return largest;
}

__global__ void take_largest(const float* scores, float* best, int32_t* places, size_t cols, size_t k) {
    const float* row = scores + blockIdx.x * cols;
    Key mine = largest_below(row, cols, ~Key(0));
    for (size_t i = 0; i < k; ++i) {
        const Key largest = over_block(mine);
        if (mine != largest) continue;
        best[blockIdx.x * k + i] = score_of(largest);
        places[blockIdx.x * k + i] = int32_t(0xFFFFFFFFu - unsigned(largest));
        mine = largest_below(row, cols, largest);
    }
}

extern "C" void solution(const float* scores, float* best, int32_t* places, size_t rows, size_t cols, size_t k) {
    take_largest<<<rows, THREADS>>>(scores, best, places, cols, k);
}
