#include <cublas_v2.h>
#include <mma.h>

#include "batched_gemm.h"

using namespace nvcuda;

// Products of 96 x 96 matrices on tensor cores without losing single precision: each number is split into two TF32 parts,
// and three of the four products of parts are added up.
constexpr int side = 96, stride = side + 4, threads = 384;
constexpr int shared_bytes = 2 * side * stride * int(sizeof(float));

using Left = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 8, float>;

template <class Fragment>
__device__ void split(Fragment& whole, Fragment& rest) {
#pragma unroll
    for (int i = 0; i < whole.num_elements; ++i) {
        const float value = whole.x[i];
        whole.x[i] = wmma::__float_to_tf32(value);
        rest.x[i] = wmma::__float_to_tf32(value - whole.x[i]);
    }
}

// Twelve warps: each makes half of a band of sixteen rows.
__global__ void __launch_bounds__(threads, 2) product_96(const float* a, const float* b, float* c) {
    extern __shared__ __align__(32) float memory[];
    float* left_matrix = memory;
    float* right_matrix = memory + side * stride;
    const size_t start = size_t(blockIdx.x) * side * side;
#pragma unroll
    for (int i = threadIdx.x; i < side * side / 4; i += threads) {
        const int place = i / 24 * stride + i % 24 * 4;
        *reinterpret_cast<float4*>(left_matrix + place) = reinterpret_cast<const float4*>(a + start)[i];
        *reinterpret_cast<float4*>(right_matrix + place) = reinterpret_cast<const float4*>(b + start)[i];
    }
    __syncthreads();
    const int warp = threadIdx.x / 32;
    const int row = warp / 2 * 16, column = warp % 2 * 48;
    Sum sums[3];
#pragma unroll
    for (int x = 0; x < 3; ++x) wmma::fill_fragment(sums[x], 0.0f);
    for (int p = 0; p < side; p += 8) {
        Left left, left_rest;
        wmma::load_matrix_sync(left, left_matrix + row * stride + p, stride);
        split(left, left_rest);
#pragma unroll
        for (int x = 0; x < 3; ++x) {
            Right right, right_rest;
            wmma::load_matrix_sync(right, right_matrix + p * stride + column + x * 16, stride);
            split(right, right_rest);
            wmma::mma_sync(sums[x], left_rest, right, sums[x]);
            wmma::mma_sync(sums[x], left, right_rest, sums[x]);
            wmma::mma_sync(sums[x], left, right, sums[x]);
        }
    }
#pragma unroll
    for (int x = 0; x < 3; ++x) {
        wmma::store_matrix_sync(c + start + row * side + column + x * 16, sums[x], side, wmma::mem_row_major);
    }
}

void batched_gemm(const float* a, const float* b, float* c, int m, int n, int k, int batch) {
    if (m == side && n == side && k == side) {
        cudaFuncSetAttribute(product_96, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
        product_96<<<batch, threads, shared_bytes>>>(a, b, c);
        return;
    }
    static cublasHandle_t handle = nullptr;
    if (handle == nullptr) cublasCreate(&handle);
    const float one = 1.0f, zero = 0.0f;
    cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, 1ll * k * n, a, k, 1ll * m * k,
                              &zero, c, n, 1ll * m * n, batch);
}
