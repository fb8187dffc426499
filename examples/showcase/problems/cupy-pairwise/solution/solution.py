"""A thread for each pair."""

import cupy

distances = cupy.RawKernel(
    """
    extern "C" __global__ void distances(const float* points, const float* queries, float* out, int m, int n, int d) {
        const int j = blockIdx.x * blockDim.x + threadIdx.x;
        const int i = blockIdx.y * blockDim.y + threadIdx.y;
        if (i >= m || j >= n) return;
        float sum = 0.0f;
        for (int p = 0; p < d; ++p) {
            const float difference = points[i * d + p] - queries[j * d + p];
            sum += difference * difference;
        }
        out[(long long)i * n + j] = sum;
    }
    """,
    "distances",
)


def pairwise(points: cupy.ndarray, queries: cupy.ndarray, out: cupy.ndarray) -> None:
    (m, d), n = points.shape, len(queries)
    distances(((n + 31) // 32, (m + 7) // 8), (32, 8), (points, queries, out, m, n, d))
