"""Tiles of 128 x 128 pairs, 8 x 8 for each thread: products as in a matrix product, sizes added to them at the end."""

import cupy

TILE = 128

distances = cupy.RawKernel(
    """
    constexpr int tile = 128, depth = 16, stride = tile + 4;

    // Eight numbers of a thread: four, and four more that lie half a tile away.
    __device__ void take(float (&to)[8], const float* from) {
        const float4 low = *reinterpret_cast<const float4*>(from);
        const float4 high = *reinterpret_cast<const float4*>(from + tile / 2);
        to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
        to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
    }

    __device__ int apart(int start, int k) { return start + k % 4 + k / 4 * (tile / 2); }

    extern "C" __global__ void __launch_bounds__(256, 2)
    distances(const float* __restrict__ points, const float* __restrict__ queries, float* __restrict__ out, int m,
              int n, int d) {
        __shared__ __align__(16) float point_tile[depth * stride];
        __shared__ __align__(16) float query_tile[depth * stride];
        const int first_point = blockIdx.y * tile, first_query = blockIdx.x * tile;
        const int row = threadIdx.x / 16 * 4, column = threadIdx.x % 16 * 4;
        float sums[8][8] = {}, point_sizes[8] = {}, query_sizes[8] = {};
        for (int start = 0; start < d; start += depth) {
            for (int i = threadIdx.x; i < tile * depth; i += 256) {
                const int which = i / depth, p = i % depth;
                const int place = p * stride + which, coordinate = start + p;
                const long long point = first_point + which, query = first_query + which;
                point_tile[place] = coordinate < d && point < m ? points[point * d + coordinate] : 0.0f;
                query_tile[place] = coordinate < d && query < n ? queries[query * d + coordinate] : 0.0f;
            }
            __syncthreads();
            #pragma unroll
            for (int p = 0; p < depth; ++p) {
                float left[8], right[8];
                take(left, point_tile + p * stride + row);
                take(right, query_tile + p * stride + column);
                #pragma unroll
                for (int k = 0; k < 8; ++k) {
                    point_sizes[k] = fmaf(left[k], left[k], point_sizes[k]);
                    query_sizes[k] = fmaf(right[k], right[k], query_sizes[k]);
                }
                #pragma unroll
                for (int y = 0; y < 8; ++y) {
                    #pragma unroll
                    for (int x = 0; x < 8; ++x) sums[y][x] = fmaf(left[y], right[x], sums[y][x]);
                }
            }
            __syncthreads();
        }
        #pragma unroll
        for (int y = 0; y < 8; ++y) {
            const int i = first_point + apart(row, y);
            if (i >= m) continue;
            #pragma unroll
            for (int x = 0; x < 8; ++x) {
                const int j = first_query + apart(column, x);
                const float distance = fmaf(-2.0f, sums[y][x], point_sizes[y] + query_sizes[x]);
                if (j < n) out[(long long)i * n + j] = fmaxf(distance, 0.0f);
            }
        }
    }
    """,
    "distances",
)


def pairwise(points, queries, out):
    (m, d), n = points.shape, len(queries)
    distances(((n + TILE - 1) // TILE, (m + TILE - 1) // TILE), (256,), (points, queries, out, m, n, d))
