#include <cuda_pipeline.h>
#include <mma.h>

#include "gemm_bias_relu.h"

using namespace nvcuda;

// As a WMMA kernel with 128 x 128 tiles, but the next tile is copied asynchronously while this one is multiplied.
constexpr int tile = 128, depth = 32, pad = 8, stages = 3;
constexpr int a_stride = depth + pad, b_stride = tile + pad;
constexpr int a_halves = tile * a_stride, b_halves = depth * b_stride;
constexpr int shared_bytes = stages * (a_halves + b_halves) * int(sizeof(__half));
static_assert(8 * 16 * 20 * int(sizeof(float)) <= shared_bytes, "the corners reuse the tiles' memory");

__device__ void fetch(__half* a_tile, __half* b_tile, const __half* a, const __half* b, int n, int k) {
#pragma unroll
    for (int i = threadIdx.x; i < tile * depth / 8; i += 256) {
        const int a_y = i / (depth / 8), a_x = i % (depth / 8) * 8;
        __pipeline_memcpy_async(a_tile + a_y * a_stride + a_x, a + size_t(a_y) * k + a_x, 16);
        const int b_y = i / (tile / 8), b_x = i % (tile / 8) * 8;
        __pipeline_memcpy_async(b_tile + b_y * b_stride + b_x, b + size_t(b_y) * n + b_x, 16);
    }
}

__global__ void __launch_bounds__(256) layer_tiles(const __half* a, const __half* b, const __half* bias, __half* c,
                                                   int n, int k) {
    extern __shared__ __align__(128) unsigned char memory[];
    __half* a_tiles = reinterpret_cast<__half*>(memory);
    __half* b_tiles = a_tiles + stages * a_halves;
    const int row = blockIdx.y * tile, column = blockIdx.x * tile;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
    const __half* a_rows = a + size_t(row) * k;
    const __half* b_columns = b + column;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
#pragma unroll
    for (int y = 0; y < 4; ++y)
#pragma unroll
        for (int x = 0; x < 2; ++x) wmma::fill_fragment(sums[y][x], 0.0f);

    const int steps = k / depth;
    for (int step = 0; step < stages - 1; ++step) {
        if (step < steps) {
            fetch(a_tiles + step * a_halves, b_tiles + step * b_halves, a_rows + step * depth,
                  b_columns + size_t(step) * depth * n, n, k);
        }
        __pipeline_commit();
    }
    for (int step = 0; step < steps; ++step) {
        __pipeline_wait_prior(stages - 2);
        __syncthreads();
        const int ahead = step + stages - 1;
        if (ahead < steps) {
            fetch(a_tiles + ahead % stages * a_halves, b_tiles + ahead % stages * b_halves, a_rows + ahead * depth,
                  b_columns + size_t(ahead) * depth * n, n, k);
        }
        __pipeline_commit();
        const __half* a_tile = a_tiles + step % stages * a_halves;
        const __half* b_tile = b_tiles + step % stages * b_halves;
#pragma unroll
        for (int p = 0; p < depth; p += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left[4];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right[2];
#pragma unroll
            for (int y = 0; y < 4; ++y)
                wmma::load_matrix_sync(left[y], a_tile + (warp_row + y * 16) * a_stride + p, a_stride);
#pragma unroll
            for (int x = 0; x < 2; ++x)
                wmma::load_matrix_sync(right[x], b_tile + p * b_stride + warp_column + x * 16, b_stride);
#pragma unroll
            for (int y = 0; y < 4; ++y)
#pragma unroll
                for (int x = 0; x < 2; ++x) wmma::mma_sync(sums[y][x], left[y], right[x], sums[y][x]);
        }
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    float* corner = reinterpret_cast<float*>(memory) + warp * 16 * 20;
#pragma unroll
    for (int y = 0; y < 4; ++y) {
#pragma unroll
        for (int x = 0; x < 2; ++x) {
            wmma::store_matrix_sync(corner, sums[y][x], 20, wmma::mem_row_major);
            __syncwarp();
            const int left_column = column + warp_column + x * 16;
            for (int i = lane; i < 128; i += 32) {
                const int in_row = i / 8, in_column = i % 8 * 2;
                const float2 shift = __half22float2(*reinterpret_cast<const __half2*>(bias + left_column + in_column));
                const float first = fmaxf(corner[in_row * 20 + in_column] + shift.x, 0.0f);
                const float second = fmaxf(corner[in_row * 20 + in_column + 1] + shift.y, 0.0f);
                const size_t place = size_t(row + warp_row + y * 16 + in_row) * n + left_column + in_column;
                *reinterpret_cast<__half2*>(c + place) = __floats2half2_rn(first, second);
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
        cudaFuncSetAttribute(layer_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
        layer_tiles<<<dim3(n / tile, m / tile), 256, shared_bytes>>>(a, b, bias, c, n, k);
    } else {
        layer_any<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(a, b, bias, c, m, n, k);
    }
}
