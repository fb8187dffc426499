#include <vector>

#include "matmul.h"

// B is transposed first, so that both factors of each element are read in order.
void matmul(const float* a, const float* b, float* c, int m, int k, int n) {
    std::vector<float> columns(static_cast<std::size_t>(k) * n);
    for (int p = 0; p < k; ++p) {
        for (int j = 0; j < n; ++j) columns[static_cast<std::size_t>(j) * k + p] = b[static_cast<std::size_t>(p) * n + j];
    }
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            const float *left = a + static_cast<long>(i) * k, *right = columns.data() + static_cast<long>(j) * k;
            float even = 0.0f, odd = 0.0f;
            int p = 0;
            for (; p + 2 <= k; p += 2) {
                even += left[p] * right[p];
                odd += left[p + 1] * right[p + 1];
            }
            c[static_cast<long>(i) * n + j] = p < k ? even + odd + left[p] * right[p] : even + odd;
        }
    }
}
