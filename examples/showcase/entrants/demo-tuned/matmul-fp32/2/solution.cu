#include <mma.h>

#include "matmul_fp32.h"

namespace {

constexpr int block_rows = 128;
constexpr int block_columns = 128;
constexpr int depth = 32;
constexpr int warps_down = 4;
constexpr int warps_across = 2;
constexpr int threads = 32 * warps_down * warps_across;
constexpr int warp_rows = block_rows / warps_down;
constexpr int warp_columns = block_columns / warps_across;
constexpr int down = warp_rows / 16;
constexpr int across = warp_columns / 16;
constexpr int a_pitch = depth + 4;
constexpr int b_pitch = block_columns + 4;

struct Tiles {
    float a[block_rows][a_pitch];
    float b[depth][b_pitch];
};

__device__ __forceinline__ float element(const float* matrix, int row, int rows, int column, int columns) {
    return row < rows && column < columns ? __ldg(matrix + static_cast<long>(row) * columns + column) : 0.0f;
}

__device__ __forceinline__ void load_tiles(Tiles& tiles, const float* a, const float* b, int first_row,
                                           int first_column, int first, int m, int n, int k) {
#pragma unroll
    for (int i = threadIdx.x; i < block_rows * depth; i += threads) {
        tiles.a[i / depth][i % depth] = element(a, first_row + i / depth, m, first + i % depth, k);
    }
#pragma unroll
    for (int i = threadIdx.x; i < depth * block_columns; i += threads) {
        const int row = i / block_columns;
        const int column = i % block_columns;
        tiles.b[row][column] = element(b, first + row, k, first_column + column, n);
    }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

namespace wmma = nvcuda::wmma;
using Left = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 8, float>;

// value = high + low, each with the eleven bits that a tensor core takes.
template <class Fragment>
__device__ __forceinline__ void split(Fragment& high, Fragment& low) {
#pragma unroll
    for (int i = 0; i < high.num_elements; ++i) {
        const float value = high.x[i];
        high.x[i] = wmma::__float_to_tf32(value);
        low.x[i] = wmma::__float_to_tf32(value - high.x[i]);
    }
}

// high * high + high * low + low * high: what is left out lies 22 bits below. Tensor cores cut sums off instead of
// rounding them, so each tile's sum starts from zero and joins the total by an ordinary addition.
__device__ __forceinline__ void multiply(const Tiles& tiles, int warp_row, int warp_column, Sum (&total)[down][across]) {
    Sum sum[down][across];
#pragma unroll
    for (int y = 0; y < down; ++y) {
#pragma unroll
        for (int x = 0; x < across; ++x) wmma::fill_fragment(sum[y][x], 0.0f);
    }
#pragma unroll
    for (int i = 0; i < depth; i += 8) {
        Left left[down], left_low[down];
#pragma unroll
        for (int y = 0; y < down; ++y) {
            wmma::load_matrix_sync(left[y], &tiles.a[warp_row + 16 * y][i], a_pitch);
            split(left[y], left_low[y]);
        }
#pragma unroll
        for (int x = 0; x < across; ++x) {
            Right right, right_low;
            wmma::load_matrix_sync(right, &tiles.b[i][warp_column + 16 * x], b_pitch);
            split(right, right_low);
#pragma unroll
            for (int y = 0; y < down; ++y) {
                wmma::mma_sync(sum[y][x], left_low[y], right, sum[y][x]);
                wmma::mma_sync(sum[y][x], left[y], right_low, sum[y][x]);
                wmma::mma_sync(sum[y][x], left[y], right, sum[y][x]);
            }
        }
    }
#pragma unroll
    for (int y = 0; y < down; ++y) {
#pragma unroll
        for (int x = 0; x < across; ++x) {
#pragma unroll
            for (int e = 0; e < total[y][x].num_elements; ++e) total[y][x].x[e] += sum[y][x].x[e];
        }
    }
}

#endif

// Single precision from tensor cores: each factor as a sum of two TF32 numbers.
__global__ void __launch_bounds__(threads) split_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
#if __CUDA_ARCH__ >= 800
    __shared__ __align__(32) Tiles tiles;
    const int first_row = blockIdx.y * block_rows;
    const int first_column = blockIdx.x * block_columns;
    const int warp_row = threadIdx.x / 32 / warps_across * warp_rows;
    const int warp_column = threadIdx.x / 32 % warps_across * warp_columns;
    Sum total[down][across];
#pragma unroll
    for (int y = 0; y < down; ++y) {
#pragma unroll
        for (int x = 0; x < across; ++x) wmma::fill_fragment(total[y][x], 0.0f);
    }
    for (int first = 0; first < k; first += depth) {
        load_tiles(tiles, a, b, first_row, first_column, first, m, n, k);
        __syncthreads();
        multiply(tiles, warp_row, warp_column, total);
        __syncthreads();
    }
    // By way of shared memory where the edge cuts a fragment, 16 x 16 elements a warp.
    float* const mine = &tiles.a[0][0] + threadIdx.x / 32 * 256;
#pragma unroll
    for (int y = 0; y < down; ++y) {
#pragma unroll
        for (int x = 0; x < across; ++x) {
            wmma::store_matrix_sync(mine, total[y][x], 16, wmma::mem_row_major);
            __syncwarp();
            for (int i = threadIdx.x % 32; i < 256; i += 32) {
                const int row = first_row + warp_row + 16 * y + i / 16;
                const int column = first_column + warp_column + 16 * x + i % 16;
                if (row < m && column < n) c[static_cast<long>(row) * n + column] = mine[i];
            }
            __syncwarp();
        }
    }
#else
    // Before tensor cores knew TF32.
    for (int i = threadIdx.x; i < block_rows * block_columns; i += threads) {
        const int row = blockIdx.y * block_rows + i / block_columns;
        const int column = blockIdx.x * block_columns + i % block_columns;
        float sum = 0.0f;
        for (int j = 0; j < k; ++j) sum = fmaf(element(a, row, m, j, k), element(b, j, k, column, n), sum);
        if (row < m && column < n) c[static_cast<long>(row) * n + column] = sum;
    }
#endif
}

}  // namespace

void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(static_cast<unsigned int>((n + block_columns - 1) / block_columns),
                    static_cast<unsigned int>((m + block_rows - 1) / block_rows));
    split_kernel<<<grid, threads>>>(a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
}
