#include <mma.h>

#include "gemm_bias_relu.h"

using namespace nvcuda;

// Tensor cores through WMMA: eight warps make a 128 x 128 tile of C, each of them 64 x 32.
constexpr int tile = 128, depth = 32, pad = 8;

__global__ void __launch_bounds__(256) layer_tiles(const __half* a, const __half* b, const __half* bias, __half* c,
                                                   int n, int k) {
    __shared__ __align__(32) __half a_tile[tile][depth + pad];
    __shared__ __align__(32) __half b_tile[depth][tile + pad];
    __shared__ __align__(32) float corner[8][16][20];
    const int row = blockIdx.y * tile, column = blockIdx.x * tile;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
#pragma unroll
    for (int y = 0; y < 4; ++y)
#pragma unroll
        for (int x = 0; x < 2; ++x) wmma::fill_fragment(sums[y][x], 0.0f);

    for (int start = 0; start < k; start += depth) {
#pragma unroll
        for (int i = threadIdx.x; i < tile * depth / 8; i += 256) {
            const int y = i / (depth / 8), x = i % (depth / 8) * 8;
            *reinterpret_cast<uint4*>(&a_tile[y][x]) =
                *reinterpret_cast<const uint4*>(a + size_t(row + y) * k + start + x);
        }
#pragma unroll
        for (int i = threadIdx.x; i < tile * depth / 8; i += 256) {
            const int y = i / (tile / 8), x = i % (tile / 8) * 8;
            *reinterpret_cast<uint4*>(&b_tile[y][x]) =
                *reinterpret_cast<const uint4*>(b + size_t(start + y) * n + column + x);
        }
        __syncthreads();
#pragma unroll
        for (int p = 0; p < depth; p += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left[4];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right[2];
#pragma unroll
            for (int y = 0; y < 4; ++y) wmma::load_matrix_sync(left[y], &a_tile[warp_row + y * 16][p], depth + pad);
#pragma unroll
            for (int x = 0; x < 2; ++x) wmma::load_matrix_sync(right[x], &b_tile[p][warp_column + x * 16], tile + pad);
#pragma unroll
            for (int y = 0; y < 4; ++y)
#pragma unroll
                for (int x = 0; x < 2; ++x) wmma::mma_sync(sums[y][x], left[y], right[x], sums[y][x]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int y = 0; y < 4; ++y) {
#pragma unroll
        for (int x = 0; x < 2; ++x) {
            wmma::store_matrix_sync(&corner[warp][0][0], sums[y][x], 20, wmma::mem_row_major);
            __syncwarp();
            for (int i = lane; i < 256; i += 32) {
                const int j = column + warp_column + x * 16 + i % 16;
                const float sum = corner[warp][i / 16][i % 16] + __half2float(bias[j]);
                c[size_t(row + warp_row + y * 16 + i / 16) * n + j] = __float2half(fmaxf(sum, 0.0f));
            }
            __syncwarp();
        }
    }
}

__global__ void layer_any(const __half* a, const __half* b, const __half* bias, __half* c, int m, int n, int k) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n) return;
    float sum = __half2float(bias[j]);
    for (int p = 0; p < k; ++p) sum += __half2float(a[size_t(i) * k + p]) * __half2float(b[size_t(p) * n + j]);
    c[size_t(i) * n + j] = __float2half(fmaxf(sum, 0.0f));
}

void gemm_bias_relu(const __half* a, const __half* b, const __half* bias, __half* c, int m, int n, int k) {
    if (m % tile == 0 && n % tile == 0 && k % depth == 0) {
        layer_tiles<<<dim3(n / tile, m / tile), 256>>>(a, b, bias, c, n, k);
    } else {
        layer_any<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(a, b, bias, c, m, n, k);
    }
}
