"""One matrix product makes everything: both factors get two more columns, for the sizes. A last pass cuts at zero."""

import cupy

widen = cupy.RawKernel(
    """
    // A warp for each vector: [scale * v, |v|^2, 1] or, turned round, [scale * v, 1, |v|^2].
    extern "C" __global__ void widen(const float* vectors, float* wide, int count, int d, float scale, int turned) {
        const int which = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
        if (which >= count) return;
        const float* vector = vectors + (long long)which * d;
        float* to = wide + (long long)which * (d + 2);
        float size = 0.0f;
        for (int p = lane; p < d; p += 32) {
            const float value = vector[p];
            size = fmaf(value, value, size);
            to[p] = scale * value;
        }
        for (int step = 16; step > 0; step /= 2) size += __shfl_xor_sync(0xffffffffu, size, step);
        if (lane == 0) {
            to[d + turned] = size;
            to[d + 1 - turned] = 1.0f;
        }
    }
    """,
    "widen",
)

cut = cupy.RawKernel(
    """
    extern "C" __global__ void cut(float* values, long long size) {
        const long long step = (long long)gridDim.x * blockDim.x;
        for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < size; i += step) {
            if (values[i] < 0.0f) values[i] = 0.0f;
        }
    }
    """,
    "cut",
)


def widened(vectors, scale, turned):
    count, d = vectors.shape
    wide = cupy.empty((count, d + 2), dtype=cupy.float32)
    widen(((count + 7) // 8,), (256,), (vectors, wide, count, d, cupy.float32(scale), turned))
    return wide


def pairwise(points, queries, out):
    cupy.matmul(widened(points, -2.0, 0), widened(queries, 1.0, 1).T, out=out)
    cut((2048,), (256,), (out, out.size))
