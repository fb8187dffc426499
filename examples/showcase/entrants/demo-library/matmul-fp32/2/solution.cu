#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "matmul_fp32.h"

namespace cg = cooperative_groups;

constexpr int tile = 32;

// Rows of both tiles come by the cooperative groups' asynchronous copies, a row to a warp; each thread has four elements.
__global__ void matmul_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[tile][tile];
    __shared__ float b_tile[tile][tile];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const int lane = static_cast<int>(warp.thread_rank());
    const int number = static_cast<int>(warp.meta_group_rank());
    const int first_row = blockIdx.y * tile;
    const int first_column = blockIdx.x * tile;
    const int width = min(tile, n - first_column);
    float sum[4] = {};
    for (int first = 0; first < k; first += tile) {
        const int inner = min(tile, k - first);
        for (int y = number; y < tile; y += 8) {
            if (first_row + y < m) {
                cg::memcpy_async(warp, a_tile[y], a + static_cast<long>(first_row + y) * k + first, inner * sizeof(float));
            }
            if (y < inner) {
                cg::memcpy_async(warp, b_tile[y], b + static_cast<long>(first + y) * n + first_column,
                                 width * sizeof(float));
            }
        }
        cg::wait(warp);
        block.sync();
        for (int i = 0; i < inner; ++i) {
            const float right = b_tile[i][lane];
            for (int part = 0; part < 4; ++part) sum[part] = fmaf(a_tile[number + 8 * part][i], right, sum[part]);
        }
        block.sync();
    }
    for (int part = 0; part < 4; ++part) {
        const int row = first_row + number + 8 * part;
        if (row < m && lane < width) c[static_cast<long>(row) * n + first_column + lane] = sum[part];
    }
}

void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(static_cast<unsigned int>((n + tile - 1) / tile), static_cast<unsigned int>((m + tile - 1) / tile));
    matmul_kernel<<<grid, 256>>>(a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
}
