#include <cublas_v2.h>

#include "batched_gemm.h"

// Row-major C = A * B is column-major C' = B' * A'; one call for the whole batch.
void batched_gemm(const float* a, const float* b, float* c, int m, int n, int k, int batch) {
    static cublasHandle_t handle = nullptr;
    if (handle == nullptr) cublasCreate(&handle);
    const float one = 1.0f, zero = 0.0f;
    const long long a_step = 1ll * m * k, b_step = 1ll * k * n, c_step = 1ll * m * n;
    cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, b_step, a, k, a_step, &zero, c, n,
                              c_step, batch);
}
