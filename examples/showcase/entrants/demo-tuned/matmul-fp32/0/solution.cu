#include "matmul_fp32.h"

namespace {

constexpr int rows_per_block = 128;
constexpr int columns_per_block = 128;
constexpr int depth = 8;
constexpr int threads = 256;

// Four neighbouring elements of a row-major matrix, zeros beyond its edges. In a Wide matrix rows are multiples of four.
template <bool Wide>
__device__ __forceinline__ float4 load_quad(const float* matrix, int row, int rows, int column, int columns) {
    float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row >= rows) return quad;
    const float* from = matrix + static_cast<long>(row) * columns + column;
    if (Wide) {
        if (column < columns) quad = __ldg(reinterpret_cast<const float4*>(from));
    } else {
        if (column < columns) quad.x = from[0];
        if (column + 1 < columns) quad.y = from[1];
        if (column + 2 < columns) quad.z = from[2];
        if (column + 3 < columns) quad.w = from[3];
    }
    return quad;
}

template <bool Wide>
__device__ __forceinline__ void store_quad(float* matrix, int row, int rows, int column, int columns, const float* quad) {
    if (row >= rows) return;
    float* to = matrix + static_cast<long>(row) * columns + column;
    if (Wide) {
        if (column < columns) *reinterpret_cast<float4*>(to) = make_float4(quad[0], quad[1], quad[2], quad[3]);
    } else {
        for (int i = 0; i < 4; ++i) {
            if (column + i < columns) to[i] = quad[i];
        }
    }
}

struct Tiles {
    float a[depth][rows_per_block + 4];  // Transposed: a column of the block is contiguous.
    float b[depth][columns_per_block];
};

__device__ __forceinline__ void store_tiles(Tiles& tiles, float4 a, float4 b) {
    const int a_row = threadIdx.x / 2;
    const int a_column = threadIdx.x % 2 * 4;
    tiles.a[a_column][a_row] = a.x;
    tiles.a[a_column + 1][a_row] = a.y;
    tiles.a[a_column + 2][a_row] = a.z;
    tiles.a[a_column + 3][a_row] = a.w;
    *reinterpret_cast<float4*>(&tiles.b[threadIdx.x / 32][threadIdx.x % 32 * 4]) = b;
}

// 128 x 128 elements to a block, 8 x 8 to a thread; while one tile is multiplied the next one is on its way.
template <bool Wide>
__global__ void __launch_bounds__(threads, 2)
    matmul_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ Tiles tiles[2];
    const int first_row = blockIdx.y * rows_per_block;
    const int first_column = blockIdx.x * columns_per_block;
    const int a_row = first_row + threadIdx.x / 2;
    const int a_column = threadIdx.x % 2 * 4;
    const int b_row = threadIdx.x / 32;
    const int b_column = first_column + threadIdx.x % 32 * 4;
    const int ty = threadIdx.x / 16 * 4;
    const int tx = threadIdx.x % 16 * 4;
    float sum[8][8] = {};
    store_tiles(tiles[0], load_quad<Wide>(a, a_row, m, a_column, k), load_quad<Wide>(b, b_row, k, b_column, n));
    __syncthreads();
    for (int first = 0, now = 0; first < k; first += depth, now ^= 1) {
        const bool more = first + depth < k;
        float4 next_a, next_b;
        if (more) {
            next_a = load_quad<Wide>(a, a_row, m, first + depth + a_column, k);
            next_b = load_quad<Wide>(b, first + depth + b_row, k, b_column, n);
        }
#pragma unroll
        for (int i = 0; i < depth; ++i) {
            float left[8], right[8];
            *reinterpret_cast<float4*>(left) = *reinterpret_cast<const float4*>(&tiles[now].a[i][ty]);
            *reinterpret_cast<float4*>(left + 4) = *reinterpret_cast<const float4*>(&tiles[now].a[i][64 + ty]);
            *reinterpret_cast<float4*>(right) = *reinterpret_cast<const float4*>(&tiles[now].b[i][tx]);
            *reinterpret_cast<float4*>(right + 4) = *reinterpret_cast<const float4*>(&tiles[now].b[i][64 + tx]);
#pragma unroll
            for (int y = 0; y < 8; ++y) {
#pragma unroll
                for (int x = 0; x < 8; ++x) sum[y][x] = fmaf(left[y], right[x], sum[y][x]);
            }
        }
        if (more) store_tiles(tiles[now ^ 1], next_a, next_b);
        __syncthreads();
    }
#pragma unroll
    for (int y = 0; y < 8; ++y) {
        const int row = first_row + (y < 4 ? ty + y : 60 + ty + y);
        store_quad<Wide>(c, row, m, first_column + tx, n, sum[y]);
        store_quad<Wide>(c, row, m, first_column + 64 + tx, n, sum[y] + 4);
    }
}

}  // namespace

void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(static_cast<unsigned int>((n + columns_per_block - 1) / columns_per_block),
                    static_cast<unsigned int>((m + rows_per_block - 1) / rows_per_block));
    const auto kernel = n % 4 == 0 && k % 4 == 0 ? matmul_kernel<true> : matmul_kernel<false>;
    kernel<<<grid, threads>>>(a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
}
