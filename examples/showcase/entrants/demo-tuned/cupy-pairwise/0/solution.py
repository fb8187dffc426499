"""Tiles of 64 x 64 pairs in shared memory, 4 x 4 pairs for each thread."""

import cupy

TILE = 64

distances = cupy.RawKernel(
    """
    constexpr int tile = 64, depth = 16, patch = 4;

    extern "C" __global__ void __launch_bounds__(256)
    distances(const float* __restrict__ points, const float* __restrict__ queries, float* __restrict__ out, int m,
              int n, int d) {
        __shared__ __align__(16) float point_tile[depth][tile + 4];
        __shared__ __align__(16) float query_tile[depth][tile + 4];
        const int first_point = blockIdx.y * tile, first_query = blockIdx.x * tile;
        const int row = threadIdx.x / 16 * patch, column = threadIdx.x % 16 * patch;
        float sums[patch][patch] = {};
        for (int start = 0; start < d; start += depth) {
            for (int i = threadIdx.x; i < tile * depth; i += 256) {
                const int which = i / depth, p = i % depth;
                const bool in_depth = start + p < d;
                const int point = first_point + which, query = first_query + which;
                point_tile[p][which] = in_depth && point < m ? points[(long long)point * d + start + p] : 0.0f;
                query_tile[p][which] = in_depth && query < n ? queries[(long long)query * d + start + p] : 0.0f;
            }
            __syncthreads();
            #pragma unroll
            for (int p = 0; p < depth; ++p) {
                const float4 a = *reinterpret_cast<const float4*>(&point_tile[p][row]);
                const float4 b = *reinterpret_cast<const float4*>(&query_tile[p][column]);
                const float left[patch] = {a.x, a.y, a.z, a.w}, right[patch] = {b.x, b.y, b.z, b.w};
                #pragma unroll
                for (int y = 0; y < patch; ++y) {
                    #pragma unroll
                    for (int x = 0; x < patch; ++x) {
                        const float difference = left[y] - right[x];
                        sums[y][x] = fmaf(difference, difference, sums[y][x]);
                    }
                }
            }
            __syncthreads();
        }
        for (int y = 0; y < patch; ++y) {
            for (int x = 0; x < patch; ++x) {
                const int i = first_point + row + y, j = first_query + column + x;
                if (i < m && j < n) out[(long long)i * n + j] = sums[y][x];
            }
        }
    }
    """,
    "distances",
)


def pairwise(points, queries, out):
    (m, d), n = points.shape, len(queries)
    distances(((n + TILE - 1) // TILE, (m + TILE - 1) // TILE), (256,), (points, queries, out, m, n, d))
