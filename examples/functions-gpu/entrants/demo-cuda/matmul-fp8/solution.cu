// Tiles of 128 x 128 on the tensor cores. The numbers become float16 on their way to shared memory, which holds all of them exactly.
#include <cstddef>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 128, DEPTH = 32, THREADS = 256, WARPS = THREADS / 32;
constexpr int DOWN = 4, ACROSS = 2;  // a warp makes 64 x 32 elements of c in squares of 16 x 16

using Left = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major>;
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

struct Tiles {
    alignas(32) __half a[TILE][DEPTH + 8];  // padded against bank conflicts
    alignas(32) __half b[DEPTH][TILE + 8];
};

// Numbers beyond the matrices are zeros.
__device__ void load(Tiles& tiles, const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, size_t row, size_t col, size_t from, size_t m, size_t n,
                     size_t k) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
        const int r = i / DEPTH, p = i % DEPTH;
        tiles.a[r][p] = __float2half(row + r < m && from + p < k ? float(a[(row + r) * k + from + p]) : 0.0f);
        const int q = i / TILE, c = i % TILE;
        tiles.b[q][c] = __float2half(col + c < n && from + q < k ? float(b[(from + q) * n + col + c]) : 0.0f);
    }
}

__device__ void multiply_tiles(const Tiles& tiles, int top, int left, Sums (&sums)[DOWN][ACROSS]) {
    for (int p = 0; p < DEPTH; p += 16) {
        Right right[ACROSS];
        for (int j = 0; j < ACROSS; ++j) wmma::load_matrix_sync(right[j], &tiles.b[p][left + 16 * j], TILE + 8);
        for (int i = 0; i < DOWN; ++i) {
            Left rows;
            wmma::load_matrix_sync(rows, &tiles.a[top + 16 * i][p], DEPTH + 8);
            for (int j = 0; j < ACROSS; ++j) wmma::mma_sync(sums[i][j], rows, right[j], sums[i][j]);
        }
    }
}

__global__ void multiply(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, float* c, size_t m, size_t n, size_t k) {
    __shared__ Tiles tiles;
    alignas(32) __shared__ float squares[WARPS][16][16];
    const size_t row = size_t(blockIdx.y) * TILE, col = size_t(blockIdx.x) * TILE;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, top = warp / 4 * 64, left = warp % 4 * 32;
    Sums sums[DOWN][ACROSS];
    for (int i = 0; i < DOWN; ++i)
        for (int j = 0; j < ACROSS; ++j) wmma::fill_fragment(sums[i][j], 0.0f);
    for (size_t from = 0; from < k; from += DEPTH) {
        load(tiles, a, b, row, col, from, m, n, k);
        __syncthreads();
        multiply_tiles(tiles, top, left, sums);
        __syncthreads();
    }
    for (int i = 0; i < DOWN; ++i)
        for (int j = 0; j < ACROSS; ++j) {
            wmma::store_matrix_sync(&squares[warp][0][0], sums[i][j], 16, wmma::mem_row_major);
            __syncwarp();
            for (int e = lane; e < 256; e += 32) {
                const size_t r = row + top + 16 * i + e / 16, s = col + left + 16 * j + e % 16;
                if (r < m && s < n) c[r * n + s] = squares[warp][e / 16][e % 16];
            }
            __syncwarp();
        }
}

extern "C" void solution(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, float* c, size_t m, size_t n, size_t k) {
    const dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    multiply<<<grid, THREADS>>>(a, b, c, m, n, k);
}
