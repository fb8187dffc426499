#include <cublas_v2.h>
#include <cuda_pipeline.h>

#include "batched_gemm.h"

// Products of 96 x 96 matrices by blocks that stay: while one product is computed, the next factors are on their way.
constexpr int side = 96, a_stride = side + 4, patch_y = 6, patch_x = 4, threads = 384;
constexpr int stage_floats = side * a_stride + side * side;
constexpr int shared_bytes = 2 * stage_floats * int(sizeof(float));

__device__ void fetch(float* stage, const float* a, const float* b) {
    for (int i = threadIdx.x; i < side * side / 4; i += threads) {
        __pipeline_memcpy_async(stage + i / 24 * a_stride + i % 24 * 4, a + i * 4, 16);
        __pipeline_memcpy_async(stage + side * a_stride + i * 4, b + i * 4, 16);
    }
}

__global__ void __launch_bounds__(threads) products_96(const float* a, const float* b, float* c, int batch) {
    extern __shared__ __align__(16) float memory[];
    const int row = threadIdx.x / 24 * patch_y, column = threadIdx.x % 24 * patch_x;
    const size_t matrix = side * side;
    fetch(memory, a + blockIdx.x * matrix, b + blockIdx.x * matrix);
    __pipeline_commit();
    for (int which = blockIdx.x, turn = 0; which < batch; which += gridDim.x, ++turn) {
        const int next = which + gridDim.x;
        if (next < batch) fetch(memory + (turn + 1) % 2 * stage_floats, a + next * matrix, b + next * matrix);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        const float* left = memory + turn % 2 * stage_floats;
        const float* right = left + side * a_stride;
        float sums[patch_y][patch_x] = {};
        for (int p = 0; p < side; p += 4) {
            float4 rows[patch_y];
#pragma unroll
            for (int y = 0; y < patch_y; ++y) {
                rows[y] = *reinterpret_cast<const float4*>(left + (row + y) * a_stride + p);
            }
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                const float4 four = *reinterpret_cast<const float4*>(right + (p + q) * side + column);
#pragma unroll
                for (int y = 0; y < patch_y; ++y) {
                    const float scale = q == 0 ? rows[y].x : q == 1 ? rows[y].y : q == 2 ? rows[y].z : rows[y].w;
                    sums[y][0] = fmaf(scale, four.x, sums[y][0]);
                    sums[y][1] = fmaf(scale, four.y, sums[y][1]);
                    sums[y][2] = fmaf(scale, four.z, sums[y][2]);
                    sums[y][3] = fmaf(scale, four.w, sums[y][3]);
                }
            }
        }
        float* corner = c + which * matrix + row * side + column;
#pragma unroll
        for (int y = 0; y < patch_y; ++y) {
            __stcs(reinterpret_cast<float4*>(corner + y * side),
                   make_float4(sums[y][0], sums[y][1], sums[y][2], sums[y][3]));
        }
        // The next turn fetches into the memory that was just read.
        __syncthreads();
    }
}

void batched_gemm(const float* a, const float* b, float* c, int m, int n, int k, int batch) {
    if (m == side && n == side && k == side) {
        int device = 0, processors = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
        cudaFuncSetAttribute(products_96, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
        products_96<<<batch < processors ? batch : processors, threads, shared_bytes>>>(a, b, c, batch);
        return;
    }
    static cublasHandle_t handle = nullptr;
    if (handle == nullptr) cublasCreate(&handle);
    const float one = 1.0f, zero = 0.0f;
    cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, 1ll * k * n, a, k, 1ll * m * k,
                              &zero, c, n, 1ll * m * n, batch);
}
