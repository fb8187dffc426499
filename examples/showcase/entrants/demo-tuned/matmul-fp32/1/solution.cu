#include <cuda_pipeline.h>

#include "matmul_fp32.h"

namespace {

constexpr int block_rows = 128;
constexpr int block_columns = 128;
constexpr int depth = 16;
constexpr int stages = 2;
constexpr int threads = 256;
constexpr int pitch = depth + 4;

struct Stage {
    float a[block_rows][pitch];
    float b[depth][block_columns];
};

// Sixteen bytes from global to shared memory behind the threads' backs, or zeros where there are none.
__device__ __forceinline__ void copy_quad(float* to, const float* matrix, int row, int rows, int column, int columns) {
    const bool inside = row < rows && column < columns;
    const float* from = inside ? matrix + static_cast<long>(row) * columns + column : matrix;
    __pipeline_memcpy_async(to, from, 16, inside ? 0 : 16);
}

__device__ __forceinline__ void fetch(Stage& stage, const float* a, const float* b, int first_row, int first_column,
                                      int first, int m, int n, int k) {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
        const int quad = threadIdx.x + part * threads;
        const int a_row = quad / 4;
        const int a_column = quad % 4 * 4;
        copy_quad(&stage.a[a_row][a_column], a, first_row + a_row, m, first + a_column, k);
        const int b_row = quad / 32;
        const int b_column = quad % 32 * 4;
        copy_quad(&stage.b[b_row][b_column], b, first + b_row, k, first_column + b_column, n);
    }
}

__device__ __forceinline__ float part_of(const float4& quad, int i) {
    return i == 0 ? quad.x : i == 1 ? quad.y : i == 2 ? quad.z : quad.w;
}

__device__ __forceinline__ void multiply(const Stage& stage, int ty, int tx, float (&sum)[8][8]) {
#pragma unroll
    for (int first = 0; first < depth; first += 4) {
        float4 left[8];
#pragma unroll
        for (int y = 0; y < 8; ++y) left[y] = *reinterpret_cast<const float4*>(&stage.a[ty + 16 * y][first]);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float right[8];
            *reinterpret_cast<float4*>(right) = *reinterpret_cast<const float4*>(&stage.b[first + i][4 * tx]);
            *reinterpret_cast<float4*>(right + 4) = *reinterpret_cast<const float4*>(&stage.b[first + i][64 + 4 * tx]);
#pragma unroll
            for (int y = 0; y < 8; ++y) {
#pragma unroll
                for (int x = 0; x < 8; ++x) sum[y][x] = fmaf(part_of(left[y], i), right[x], sum[y][x]);
            }
        }
    }
}

// n and k are multiples of four.
__global__ void __launch_bounds__(threads) pipelined_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) Stage shared[stages];
    const int first_row = blockIdx.y * block_rows;
    const int first_column = blockIdx.x * block_columns;
    const int ty = threadIdx.x / 16;
    const int tx = threadIdx.x % 16;
    float sum[8][8] = {};
    fetch(shared[0], a, b, first_row, first_column, 0, m, n, k);
    __pipeline_commit();
    for (int first = 0, now = 0; first < k; first += depth, now ^= 1) {
        if (first + depth < k) fetch(shared[now ^ 1], a, b, first_row, first_column, first + depth, m, n, k);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        multiply(shared[now], ty, tx, sum);
        __syncthreads();
    }
#pragma unroll
    for (int y = 0; y < 8; ++y) {
        const int row = first_row + ty + 16 * y;
        if (row >= m) continue;
        float* to = c + static_cast<long>(row) * n;
        const int left = first_column + 4 * tx;
        const int right = left + 64;
        if (left < n) *reinterpret_cast<float4*>(to + left) = make_float4(sum[y][0], sum[y][1], sum[y][2], sum[y][3]);
        if (right < n) *reinterpret_cast<float4*>(to + right) = make_float4(sum[y][4], sum[y][5], sum[y][6], sum[y][7]);
    }
}

// Any other size.
__global__ void ragged_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[32][33];
    __shared__ float b_tile[32][32];
    const int row = blockIdx.y * 32 + threadIdx.y;
    const int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < k; first += 32) {
        const int i = first + threadIdx.x;
        const int j = first + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < m && i < k ? a[static_cast<long>(row) * k + i] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = j < k && column < n ? b[static_cast<long>(j) * n + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int d = 0; d < 32; ++d) sum = fmaf(a_tile[threadIdx.y][d], b_tile[d][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < m && column < n) c[static_cast<long>(row) * n + column] = sum;
}

dim3 grid_for(std::size_t m, std::size_t n, std::size_t rows, std::size_t columns) {
    return dim3(static_cast<unsigned int>((n + columns - 1) / columns), static_cast<unsigned int>((m + rows - 1) / rows));
}

}  // namespace

void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m == 0 || n == 0) return;
    const auto height = static_cast<int>(m);
    const auto width = static_cast<int>(n);
    const auto inner = static_cast<int>(k);
    if (n % 4 == 0 && k % 4 == 0 && k > 0) {
        pipelined_kernel<<<grid_for(m, n, block_rows, block_columns), threads>>>(a, b, c, height, width, inner);
    } else {
        ragged_kernel<<<grid_for(m, n, 32, 32), dim3(32, 32)>>>(a, b, c, height, width, inner);
    }
}
