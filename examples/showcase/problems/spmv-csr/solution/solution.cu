#include <cusparse.h>

#include "spmv_csr.h"

namespace {

// Workspace that grows as needed and stays.
void* workspace_of(size_t bytes) {
    static void* memory = nullptr;
    static size_t held_bytes = 0;
    if (bytes > held_bytes) {
        cudaFree(memory);
        cudaMalloc(&memory, bytes);
        held_bytes = bytes;
    }
    return memory;
}

}  // namespace

void spmv_csr(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count,
              int column_count, int entry_count) {
    if (entry_count == 0) {
        cudaMemsetAsync(y, 0, sizeof(float) * row_count);
        return;
    }
    static cusparseHandle_t handle = nullptr;
    if (handle == nullptr) cusparseCreate(&handle);
    cusparseConstSpMatDescr_t matrix = nullptr;
    cusparseConstDnVecDescr_t input = nullptr;
    cusparseDnVecDescr_t output = nullptr;
    cusparseCreateConstCsr(&matrix, row_count, column_count, entry_count, row_starts, columns, values,
                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseCreateConstDnVec(&input, column_count, x, CUDA_R_32F);
    cusparseCreateDnVec(&output, row_count, y, CUDA_R_32F);
    const float one = 1.0f, zero = 0.0f;
    size_t bytes = 0;
    cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, input, &zero, output, CUDA_R_32F,
                            CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
    cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, input, &zero, output, CUDA_R_32F,
                 CUSPARSE_SPMV_ALG_DEFAULT, workspace_of(bytes));
    cusparseDestroySpMat(matrix);
    cusparseDestroyDnVec(input);
    cusparseDestroyDnVec(output);
}
