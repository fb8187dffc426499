#include <cusparse.h>

#include "spmv_csr.h"

namespace {

struct Workspace {
    void* memory = nullptr;
    size_t bytes = 0;
    void* fit(size_t wanted_bytes) {
        if (wanted_bytes > bytes) {
            cudaFree(memory);
            cudaMalloc(&memory, wanted_bytes);
            bytes = wanted_bytes;
        }
        return memory;
    }
};

}  // namespace

// cuSPARSE's first algorithm for CSR matrices.
void spmv_csr(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count,
              int column_count, int entry_count) {
    static cusparseHandle_t handle = nullptr;
    static Workspace workspace;
    if (handle == nullptr) cusparseCreate(&handle);
    if (entry_count == 0) {
        cudaMemsetAsync(y, 0, row_count * sizeof(float));
        return;
    }
    cusparseConstSpMatDescr_t a;
    cusparseConstDnVecDescr_t from;
    cusparseDnVecDescr_t to;
    cusparseCreateConstCsr(&a, row_count, column_count, entry_count, row_starts, columns, values, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseCreateConstDnVec(&from, column_count, x, CUDA_R_32F);
    cusparseCreateDnVec(&to, row_count, y, CUDA_R_32F);
    const float alpha = 1.0f, beta = 0.0f;
    size_t bytes = 0;
    cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, from, &beta, to, CUDA_R_32F,
                            CUSPARSE_SPMV_CSR_ALG1, &bytes);
    cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, from, &beta, to, CUDA_R_32F,
                 CUSPARSE_SPMV_CSR_ALG1, workspace.fit(bytes));
    cusparseDestroySpMat(a);
    cusparseDestroyDnVec(from);
    cusparseDestroyDnVec(to);
}
