// Tiles of 128 x 128 in shared memory; each thread makes 8 x 8 elements of c, in four groups of 4 x 4.
#include <cstddef>

constexpr int TILE = 128, DEPTH = 16, THREADS = 256;

// Both tiles have k as their first index, so that a thread reads four neighbours at a time.
struct Tiles {
    alignas(16) float a[DEPTH][TILE + 4];
    alignas(16) float b[DEPTH][TILE];
};

__device__ void load(Tiles& tiles, const float* a, const float* b, size_t row, size_t col, size_t from, size_t m, size_t n, size_t k) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
        const int r = i / DEPTH, p = i % DEPTH;
        tiles.a[p][r] = row + r < m && from + p < k ? a[(row + r) * k + from + p] : 0.0f;
        const int q = i / TILE, c = i % TILE;
        tiles.b[q][c] = from + q < k && col + c < n ? b[(from + q) * n + col + c] : 0.0f;
    }
}

// Elements 4 i to 4 i + 3 and 64 + 4 i to 64 + 4 i + 3 of a row of a tile.
__device__ void read_eight(const float* row, int i, float (&eight)[8]) {
    const float4 low = *reinterpret_cast<const float4*>(row + 4 * i), high = *reinterpret_cast<const float4*>(row + TILE / 2 + 4 * i);
    eight[0] = low.x, eight[1] = low.y, eight[2] = low.z, eight[3] = low.w;
    eight[4] = high.x, eight[5] = high.y, eight[6] = high.z, eight[7] = high.w;
}

__device__ int offset_of(int i, int lane) {
    return i / 4 * (TILE / 2) + 4 * lane + i % 4;
}

__global__ void __launch_bounds__(THREADS) multiply(const float* a, const float* b, float* c, size_t m, size_t n, size_t k) {
    __shared__ Tiles tiles;
    const size_t row = size_t(blockIdx.y) * TILE, col = size_t(blockIdx.x) * TILE;
    const int y = threadIdx.x / 16, x = threadIdx.x % 16;
    float sums[8][8] = {};
    for (size_t from = 0; from < k; from += DEPTH) {
        load(tiles, a, b, row, col, from, m, n, k);
        __syncthreads();
#pragma unroll
        for (int p = 0; p < DEPTH; ++p) {
            float left[8], right[8];
            read_eight(tiles.a[p], y, left);
            read_eight(tiles.b[p], x, right);
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const size_t r = row + offset_of(i, y), s = col + offset_of(j, x);
            if (r < m && s < n) c[r * n + s] = sums[i][j];
        }
}

extern "C" void solution(const float* a, const float* b, float* c, size_t m, size_t n, size_t k) {
    const dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    multiply<<<grid, THREADS>>>(a, b, c, m, n, k);
}
