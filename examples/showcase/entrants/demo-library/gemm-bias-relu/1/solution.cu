#include <cublasLt.h>

#include "gemm_bias_relu.h"

namespace {

constexpr size_t workspace_bytes = size_t{32} << 20;

struct Library {
    cublasLtHandle_t handle = nullptr;
    void* workspace = nullptr;
    Library() {
        cublasLtCreate(&handle);
        cudaMalloc(&workspace, workspace_bytes);
    }
};

Library& library() {
    static Library made;
    return made;
}

__global__ void layer_any(const __half* a, const __half* b, const __half* bias, __half* c, int m, int n, int k) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n) return;
    float sum = __half2float(bias[j]);
    for (int p = 0; p < k; ++p) sum += __half2float(a[size_t(i) * k + p]) * __half2float(b[size_t(p) * n + j]);
    c[size_t(i) * n + j] = __float2half(fmaxf(sum, 0.0f));
}

// What one shape needs; cuBLASLt counts by columns, so C' = B' * A' and the bias runs along the rows of C'.
struct Plan {
    int m, n, k;
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t left = nullptr, right = nullptr, result = nullptr;
    cublasLtMatmulHeuristicResult_t chosen{};
    int found = 0;

    Plan(int m, int n, int k, const __half* bias) : m(m), n(n), k(k) {
        cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
        const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
        cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
        point_at(bias);
        cublasLtMatrixLayoutCreate(&left, CUDA_R_16F, n, k, n);
        cublasLtMatrixLayoutCreate(&right, CUDA_R_16F, k, m, k);
        cublasLtMatrixLayoutCreate(&result, CUDA_R_16F, n, m, n);
        cublasLtMatmulPreference_t preference = nullptr;
        cublasLtMatmulPreferenceCreate(&preference);
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                             sizeof workspace_bytes);
        cublasLtMatmulAlgoGetHeuristic(library().handle, product, left, right, result, result, preference, 1, &chosen,
                                       &found);
        cublasLtMatmulPreferenceDestroy(preference);
    }
    ~Plan() {
        cublasLtMatrixLayoutDestroy(left);
        cublasLtMatrixLayoutDestroy(right);
        cublasLtMatrixLayoutDestroy(result);
        cublasLtMatmulDescDestroy(product);
    }
    void point_at(const __half* bias) {
        cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    }
    bool run(const __half* a, const __half* b, const __half* bias, __half* c) {
        const float one = 1.0f, zero = 0.0f;
        point_at(bias);
        return found > 0 && cublasLtMatmul(library().handle, product, &one, b, left, a, right, &zero, c, result, c,
                                           result, &chosen.algo, library().workspace, workspace_bytes,
                                           nullptr) == CUBLAS_STATUS_SUCCESS;
    }
};

}  // namespace

void gemm_bias_relu(const __half* a, const __half* b, const __half* bias, __half* c, int m, int n, int k) {
    static Plan* plan = nullptr;
    if (plan == nullptr || plan->m != m || plan->n != n || plan->k != k) {
        delete plan;
        plan = new Plan(m, n, k, bias);
    }
    if (!plan->run(a, b, bias, c)) {
        layer_any<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(a, b, bias, c, m, n, k);
    }
}
