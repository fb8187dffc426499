#include <cublas_v2.h>

#include "batched_gemm.h"

namespace {

cublasHandle_t handle() {
    static const cublasHandle_t made = [] {
        cublasHandle_t fresh = nullptr;
        cublasCreate(&fresh);
        return fresh;
    }();
    return made;
}

}  // namespace

// cuBLAS counts by columns: the row-major C = A * B is the column-major C' = B' * A'.
void batched_gemm(const float* a, const float* b, float* c, int m, int n, int k, int batch) {
    const float one = 1.0f, zero = 0.0f;
    cublasSgemmStridedBatched(handle(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, 1ll * k * n, a, k, 1ll * m * k,
                              &zero, c, n, 1ll * m * n, batch);
}
