#include <cublasLt.h>

#include "batched_gemm.h"

namespace {

constexpr size_t workspace_bytes = size_t{32} << 20;

struct Layout {
    cublasLtMatrixLayout_t handle = nullptr;
    Layout(int rows, int columns, int batch) {
        const int64_t step = int64_t{rows} * columns;
        cublasLtMatrixLayoutCreate(&handle, CUDA_R_32F, rows, columns, rows);
        cublasLtMatrixLayoutSetAttribute(handle, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
        cublasLtMatrixLayoutSetAttribute(handle, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step);
    }
    ~Layout() { cublasLtMatrixLayoutDestroy(handle); }
};

struct Library {
    cublasLtHandle_t handle = nullptr;
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatmulPreference_t preference = nullptr;
    void* workspace = nullptr;
    Library() {
        cublasLtCreate(&handle);
        cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
        cublasLtMatmulPreferenceCreate(&preference);
        cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                             sizeof workspace_bytes);
        cudaMalloc(&workspace, workspace_bytes);
    }
};

}  // namespace

// cuBLASLt with strided batches.
void batched_gemm(const float* a, const float* b, float* c, int m, int n, int k, int batch) {
    static const Library library;
    const Layout left(n, k, batch), right(k, m, batch), result(n, m, batch);
    cublasLtMatmulHeuristicResult_t suggested{};
    int count = 0;
    cublasLtMatmulAlgoGetHeuristic(library.handle, library.product, left.handle, right.handle, result.handle,
                                   result.handle, library.preference, 1, &suggested, &count);
    const float one = 1.0f, zero = 0.0f;
    cublasLtMatmul(library.handle, library.product, &one, b, left.handle, a, right.handle, &zero, c, result.handle, c,
                   result.handle, count > 0 ? &suggested.algo : nullptr, library.workspace, workspace_bytes, nullptr);
}
