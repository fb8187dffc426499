#include "matmul.h"

static void scale_row(float* row, const float* source, float scale, int n) {
    for (int j = 0; j < n; ++j) row[j] = scale * source[j];
}

static void add_scaled_row(float* row, const float* source, float scale, int n) {
    for (int j = 0; j < n; ++j) row[j] += scale * source[j];
}

void matmul(const float* a, const float* b, float* c, int m, int k, int n) {
    for (long i = 0; i < m; ++i) {
        scale_row(c + i * n, b, a[i * k], n);
        for (long p = 1; p < k; ++p) add_scaled_row(c + i * n, b + p * n, a[i * k + p], n);
    }
}
