#include <algorithm>

#include "matmul.h"

void matmul(const float* a, const float* b, float* c, int m, int k, int n) {
    std::fill_n(c, static_cast<long>(m) * n, 0.0f);
    for (int i = 0; i < m; ++i) {
        for (int p = 0; p < k; ++p) {
            for (int j = 0; j < n; ++j) c[static_cast<long>(i) * n + j] += a[static_cast<long>(i) * k + p] * b[static_cast<long>(p) * n + j];
        }
    }
}
