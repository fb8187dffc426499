// One block for 64 rows of a head, 16 for each warp, on the tensor cores. The first pass over the keys finds the maximum and the
// sum of each row; the second makes the weights and multiplies them by the values.
#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int WIDTH = 64, TILE = 64, WARPS = 4, ROWS = TILE / WARPS, THREADS = 32 * WARPS, STEPS = WIDTH / 16;
constexpr int PADDED = WIDTH + 8, PADDED_SCORES = TILE + 4;  // against bank conflicts

using Left = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using RightByRows = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major>;
using RightByColumns = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major>;
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

// Rows beyond n are zeros.
__device__ void load(__half (*tile)[PADDED], const __half* from, size_t first, size_t n) {
    for (int i = threadIdx.x; i < TILE * WIDTH / 8; i += THREADS) {
        const int row = i / (WIDTH / 8), col = i % (WIDTH / 8) * 8;
        uint4 eight = {0, 0, 0, 0};
        if (first + row < n) eight = *reinterpret_cast<const uint4*>(from + (first + row) * WIDTH + col);
        *reinterpret_cast<uint4*>(&tile[row][col]) = eight;
    }
}

// Products of the warp's 16 rows of q with the 64 keys.
__device__ void score(const Left (&q)[STEPS], const __half (*keys)[PADDED], float (*scores)[PADDED_SCORES]) {
    for (int j = 0; j < TILE / 16; ++j) {
        Sums sums;
        wmma::fill_fragment(sums, 0.0f);
        for (int step = 0; step < STEPS; ++step) {
            RightByColumns right;
            wmma::load_matrix_sync(right, &keys[16 * j][16 * step], PADDED);
            wmma::mma_sync(sums, q[step], right, sums);
        }
        wmma::store_matrix_sync(&scores[0][16 * j], sums, PADDED_SCORES, wmma::mem_row_major);
    }
    __syncwarp();
}

// The maximum of a row's scores and the sum of their powers of two; two lanes share a row.
struct Row {
    float largest = -INFINITY, sum = 0;

    __device__ void add(const float* scores, float scale, int from, int to) {
        float largest_here = largest;
        for (int col = from; col < to; ++col) largest_here = fmaxf(largest_here, scores[col] * scale);
        largest_here = fmaxf(largest_here, __shfl_xor_sync(0xFFFFFFFF, largest_here, 1));
        sum *= exp2f(largest - largest_here);
        for (int col = from; col < to; ++col) sum += exp2f(scores[col] * scale - largest_here);
        largest = largest_here;
    }
};

__global__ void attend(const __half* q, const __half* k, const __half* v, __half* y, float scale, size_t n) {
    alignas(32) __shared__ __half keys[TILE][PADDED], values[TILE][PADDED];
    alignas(32) __shared__ float all_scores[WARPS][ROWS][PADDED_SCORES];
    alignas(32) __shared__ __half all_weights[WARPS][ROWS][PADDED];
    const size_t head = blockIdx.y * n * WIDTH, first_row = blockIdx.x * size_t(TILE), end = min(first_row + TILE, n);
    const int warp = threadIdx.x / 32, mine = threadIdx.x % 32 / 2, from = threadIdx.x % 2 * (TILE / 2);
    const size_t row = first_row + warp * ROWS + mine;
    auto scores = all_scores[warp];
    auto weights = all_weights[warp];

    Left query[STEPS];
    load(keys, q + head, first_row, n);
    __syncthreads();
    for (int step = 0; step < STEPS; ++step) wmma::load_matrix_sync(query[step], &keys[warp * ROWS][16 * step], PADDED);

    Row total;
    for (size_t first = 0; first < end; first += TILE) {
        __syncthreads();
        load(keys, k + head, first, n);
        __syncthreads();
        score(query, keys, scores);
        const int seen = int(min(row + 1 - first, size_t(TILE)));  // a row sees at least one key of each of its block's tiles
        total.add(scores[mine], scale, from, min(from + TILE / 2, seen));
        __syncwarp();
    }
    const float share = 1 / (total.sum + __shfl_xor_sync(0xFFFFFFFF, total.sum, 1));

    Sums results[STEPS];
    for (int step = 0; step < STEPS; ++step) wmma::fill_fragment(results[step], 0.0f);
    for (size_t first = 0; first < end; first += TILE) {
        __syncthreads();
        load(keys, k + head, first, n);
        load(values, v + head, first, n);
        __syncthreads();
        score(query, keys, scores);
        for (int col = from; col < from + TILE / 2; ++col) {
            const float weight = first + col <= row ? exp2f(scores[mine][col] * scale - total.largest) * share : 0.0f;
            weights[mine][col] = __float2half(weight);
        }
        __syncwarp();
        for (int j = 0; j < TILE / 16; ++j) {
            Left left;
            wmma::load_matrix_sync(left, &weights[0][16 * j], PADDED);
            for (int step = 0; step < STEPS; ++step) {
                RightByRows right;
                wmma::load_matrix_sync(right, &values[16 * j][16 * step], PADDED);
                wmma::mma_sync(results[step], left, right, results[step]);
            }
        }
        __syncwarp();
    }

    for (int step = 0; step < STEPS; ++step)
        wmma::store_matrix_sync(&scores[0][16 * step], results[step], PADDED_SCORES, wmma::mem_row_major);
    __syncwarp();
    if (row < n)
        for (int col = from; col < from + WIDTH / 2; ++col) y[head + row * WIDTH + col] = __float2half(scores[mine][col]);
}

extern "C" void solution(const __half* q, const __half* k, const __half* v, __half* y, float scale, size_t heads, size_t n) {
    const dim3 grid((n + TILE - 1) / TILE, heads);
    attend<<<grid, THREADS>>>(q, k, v, y, scale * 1.4426950408889634f, n);  // exp(x) = exp2(x log2(e))
}
