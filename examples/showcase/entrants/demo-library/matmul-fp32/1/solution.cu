#include "matmul_fp32.h"

// Hoped that cuBLAS would be linked.
struct cublasContext;
extern "C" int cublasCreate_v2(cublasContext** handle);
extern "C" int cublasSgemm_v2(cublasContext* handle, int transa, int transb, int m, int n, int k, const float* alpha,
                              const float* a, int lda, const float* b, int ldb, const float* beta, float* c, int ldc);

void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    static cublasContext* handle = nullptr;
    if (handle == nullptr) cublasCreate_v2(&handle);
    const float one = 1.0f;
    const float zero = 0.0f;
    const int width = static_cast<int>(n);
    const int inner = static_cast<int>(k);
    cublasSgemm_v2(handle, 0, 0, width, static_cast<int>(m), inner, &one, b, width, a, inner, &zero, c, width);
}
