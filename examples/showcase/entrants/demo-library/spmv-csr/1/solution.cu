#include <cusparse.h>

#include "spmv_csr.h"

namespace {

// The handle and a workspace that grows.
struct Library {
    cusparseHandle_t handle = nullptr;
    void* memory = nullptr;
    size_t bytes = 0;
    Library() { cusparseCreate(&handle); }
    void fit(size_t wanted_bytes) {
        if (wanted_bytes <= bytes) return;
        cudaFree(memory);
        cudaMalloc(&memory, wanted_bytes);
        bytes = wanted_bytes;
    }
};

}  // namespace

// cuSPARSE's second algorithm, whose results do not depend on the order of the threads.
void spmv_csr(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count,
              int column_count, int entry_count) {
    static Library library;
    if (entry_count == 0) {
        cudaMemsetAsync(y, 0, row_count * sizeof(float));
        return;
    }
    cusparseConstSpMatDescr_t matrix;
    cusparseConstDnVecDescr_t input;
    cusparseDnVecDescr_t output;
    cusparseCreateConstCsr(&matrix, row_count, column_count, entry_count, row_starts, columns, values,
                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseCreateConstDnVec(&input, column_count, x, CUDA_R_32F);
    cusparseCreateDnVec(&output, row_count, y, CUDA_R_32F);
    const float alpha = 1.0f, beta = 0.0f;
    const auto how = CUSPARSE_SPMV_CSR_ALG2;
    const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    size_t bytes = 0;
    cusparseSpMV_bufferSize(library.handle, plain, &alpha, matrix, input, &beta, output, CUDA_R_32F, how, &bytes);
    library.fit(bytes);
    cusparseSpMV(library.handle, plain, &alpha, matrix, input, &beta, output, CUDA_R_32F, how, library.memory);
    cusparseDestroySpMat(matrix);
    cusparseDestroyDnVec(input);
    cusparseDestroyDnVec(output);
}
