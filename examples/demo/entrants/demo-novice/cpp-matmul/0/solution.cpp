#include "matmul.h"

void matmul(const float* a, const float* b, float* c, int m, int k, int n) {
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            for (int p = 0; p < k; p++) {
                c[i * n + j] += a[i * k + p] * b[p * n + j];
            }
        }
    }
}
