#include "matmul.h"

void matmul(const float* a, const float* b, float* c, int m, int k, int n) {
    for (int i = 0; i < m; ++i) {
        float* row = c + static_cast<long>(i) * n;
        for (int j = 0; j < n; ++j) row[j] = 0.0f;
        for (int p = 0; p < k; ++p) {
            const float scale = a[static_cast<long>(i) * k + p];
            const float* source = b + static_cast<long>(p) * n;
            for (int j = 0; j < n; ++j) row[j] += scale * source[j];
        }
    }
}
