#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/tabulate.h>

#include "matmul_fp32.h"

struct DotProduct {
    const float* a;
    const float* b;
    std::size_t n;
    std::size_t k;
    __device__ float operator()(std::size_t i) const {
        const float* row = a + i / n * k;
        const float* column = b + i % n;
        float sum = 0.0f;
        for (std::size_t j = 0; j < k; ++j) sum = fmaf(row[j], column[j * n], sum);
        return sum;
    }
};

// Without cuBLAS, Thrust has no product of matrices: every element is a function of its index.
void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m * n == 0) return;
    const auto first = thrust::device_pointer_cast(c);
    thrust::tabulate(thrust::device, first, first + static_cast<std::ptrdiff_t>(m * n), DotProduct{a, b, n, k});
}
