#pragma GCC optimize("O3")
#include <algorithm>

#include "matmul.h"

// Blocks of B small enough for the first cache, reused by every row of A.
constexpr int depth = 64, breadth = 128;

static void multiply_block(const float* a, const float* b, float* c, int k, int n, int height, int width) {
    for (int p = 0; p < height; ++p) {
        const float scale = a[p];
        const float* __restrict source = b + static_cast<long>(p) * n;
        float* __restrict target = c;
        for (int j = 0; j < width; ++j) target[j] += scale * source[j];
    }
    (void)k;
}

void matmul(const float* a, const float* b, float* c, int m, int k, int n) {
    std::fill(c, c + static_cast<long>(m) * n, 0.0f);
    for (int p = 0; p < k; p += depth) {
        for (int j = 0; j < n; j += breadth) {
            for (int i = 0; i < m; ++i) {
                multiply_block(a + static_cast<long>(i) * k + p, b + static_cast<long>(p) * n + j,
                               c + static_cast<long>(i) * n + j, k, n, std::min(depth, k - p), std::min(breadth, n - j));
            }
        }
    }
}
