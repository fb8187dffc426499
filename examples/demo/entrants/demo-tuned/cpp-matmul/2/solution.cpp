#pragma GCC optimize("O3")
#include "matmul.h"

// Four rows of B at a time: one pass over a row of C for four multiplications.
static void add_four(float* __restrict row, const float* __restrict b, const float* scale, int n) {
    const float *b0 = b, *b1 = b + n, *b2 = b + 2L * n, *b3 = b + 3L * n;
    for (int j = 0; j < n; ++j) row[j] += scale[0] * b0[j] + scale[1] * b1[j] + scale[2] * b2[j] + scale[3] * b3[j];
}

static void add_one(float* __restrict row, const float* __restrict b, float scale, int n) {
    for (int j = 0; j < n; ++j) row[j] += scale * b[j];
}

void matmul(const float* a, const float* b, float* c, int m, int k, int n) {
    for (int i = 0; i < m; ++i) {
        float* row = c + static_cast<long>(i) * n;
        const float* scales = a + static_cast<long>(i) * k;
        for (int j = 0; j < n; ++j) row[j] = 0.0f;
        int p = 0;
        for (; p + 4 <= k; p += 4) add_four(row, b + static_cast<long>(p) * n, scales + p, n);
        for (; p < k; ++p) add_one(row, b + static_cast<long>(p) * n, scales[p], n);
    }
}
