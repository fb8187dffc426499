#include "matmul.h"

// Tiles of 4 rows by 8 columns stay in registers over the whole inner dimension.
typedef float Lanes __attribute__((vector_size(16), aligned(4), may_alias));

static void tile(const float* a, const float* b, float* c, int k, int n) {
    Lanes sums[4][2] = {};
    for (int p = 0; p < k; ++p) {
        const Lanes left = *reinterpret_cast<const Lanes*>(b + static_cast<long>(p) * n);
        const Lanes right = *reinterpret_cast<const Lanes*>(b + static_cast<long>(p) * n + 4);
        for (int row = 0; row < 4; ++row) {
            const float scale = a[static_cast<long>(row) * k + p];
            sums[row][0] += left * scale;
            sums[row][1] += right * scale;
        }
    }
    for (int row = 0; row < 4; ++row) {
        *reinterpret_cast<Lanes*>(c + static_cast<long>(row) * n) = sums[row][0];
        *reinterpret_cast<Lanes*>(c + static_cast<long>(row) * n + 4) = sums[row][1];
    }
}

static float element(const float* a, const float* b, int k, int n) {
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) sum += a[p] * b[static_cast<long>(p) * n];
    return sum;
}

void matmul(const float* a, const float* b, float* c, int m, int k, int n) {
    const int whole_rows = m - m % 4, whole_columns = n - n % 8;
    for (int j = 0; j < whole_columns; j += 8) {
        for (int i = 0; i < whole_rows; i += 4) tile(a + static_cast<long>(i) * k, b + j, c + static_cast<long>(i) * n + j, k, n);
    }
    for (int i = 0; i < m; ++i) {
        for (int j = i < whole_rows ? whole_columns : 0; j < n; ++j) {
            c[static_cast<long>(i) * n + j] = element(a + static_cast<long>(i) * k, b + j, k, n);
        }
    }
}
