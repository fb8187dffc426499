// Tiles of 128 x 128 on the tensor cores. Eight warps share a tile; each makes 64 x 32 elements of c from fragments of 16 x 16.
#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 128, DEPTH = 32, THREADS = 256, PAD = 8, LANES = 8, FRAGMENT = 16;
constexpr int DOWN = 4, ACROSS = 2;  // fragments of a warp

using Left = wmma::fragment<wmma::matrix_a, FRAGMENT, FRAGMENT, FRAGMENT, __half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, FRAGMENT, FRAGMENT, FRAGMENT, __half, wmma::row_major>;
using Sums = wmma::fragment<wmma::accumulator, FRAGMENT, FRAGMENT, FRAGMENT, float>;

struct Tiles {
    alignas(32) __half a[TILE][DEPTH + PAD];
    alignas(32) __half b[DEPTH][TILE + PAD];
};

// Copies eight neighbours of a row of `length` numbers, and zeros beyond its end.
__device__ void copy_eight(__half* to, const __half* row, size_t at, size_t length, bool is_inside) {
    const __half* from = row + at;
    if (is_inside && at + LANES <= length && reinterpret_cast<uintptr_t>(from) % 16 == 0)
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
    else
        for (int i = 0; i < LANES; ++i) to[i] = is_inside && at + i < length ? from[i] : __float2half(0.0f);
}

__device__ void load(Tiles& tiles, const __half* a, const __half* b, size_t row, size_t col, size_t from, size_t m, size_t n,
                     size_t k) {
    for (int i = threadIdx.x; i < TILE * DEPTH / LANES; i += THREADS) {
        const int r = i / (DEPTH / LANES), p = i % (DEPTH / LANES) * LANES;
        copy_eight(&tiles.a[r][p], a + (row + r) * k, from + p, k, row + r < m);
        const int q = i / (TILE / LANES), c = i % (TILE / LANES) * LANES;
        copy_eight(&tiles.b[q][c], b + (from + q) * n, col + c, n, from + q < k);
    }
}

__device__ void multiply_tiles(const Tiles& tiles, int top, int left, Sums (&sums)[DOWN][ACROSS]) {
    for (int p = 0; p < DEPTH; p += FRAGMENT) {
        Right right[ACROSS];
        for (int j = 0; j < ACROSS; ++j) wmma::load_matrix_sync(right[j], &tiles.b[p][left + FRAGMENT * j], TILE + PAD);
        for (int i = 0; i < DOWN; ++i) {
            Left rows;
            wmma::load_matrix_sync(rows, &tiles.a[top + FRAGMENT * i][p], DEPTH + PAD);
            for (int j = 0; j < ACROSS; ++j) wmma::mma_sync(sums[i][j], rows, right[j], sums[i][j]);
        }
    }
}

// Writes a fragment to c by way of shared memory of the warp's own.
__device__ void store(float* own, const Sums& sums, __half* c, size_t row, size_t col, size_t m, size_t n) {
    wmma::store_matrix_sync(own, sums, FRAGMENT, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x % 32; i < FRAGMENT * FRAGMENT; i += 32) {
        const size_t r = row + i / FRAGMENT, s = col + i % FRAGMENT;
        if (r < m && s < n) c[r * n + s] = __float2half(own[i]);
    }
    __syncwarp();
}

__global__ void __launch_bounds__(THREADS)
multiply(const __half* a, const __half* b, __half* c, size_t m, size_t n, size_t k) {
    __shared__ Tiles tiles;
    __shared__ alignas(32) float results[THREADS / 32][FRAGMENT * FRAGMENT];
    const size_t row = size_t(blockIdx.y) * TILE, col = size_t(blockIdx.x) * TILE;
    const int warp = threadIdx.x / 32, top = warp / 4 * FRAGMENT * DOWN, left = warp % 4 * FRAGMENT * ACROSS;
    Sums sums[DOWN][ACROSS];
    for (auto& across : sums)
        for (auto& one : across) wmma::fill_fragment(one, 0.0f);
    for (size_t from = 0; from < k; from += DEPTH) {
        load(tiles, a, b, row, col, from, m, n, k);
        __syncthreads();
        multiply_tiles(tiles, top, left, sums);
        __syncthreads();
    }
    for (int i = 0; i < DOWN; ++i)
        for (int j = 0; j < ACROSS; ++j)
            store(results[warp], sums[i][j], c, row + top + FRAGMENT * i, col + left + FRAGMENT * j, m, n);
}

extern "C" void solution(const __half* a, const __half* b, __half* c, size_t m, size_t n, size_t k) {
    const dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    multiply<<<grid, THREADS>>>(a, b, c, m, n, k);
}
