#include <cstddef>

extern "C" void solution(const float* a, const float* b, float* c, size_t batch, size_t m, size_t n, size_t k) {
    for (size_t item = 0; item < batch; ++item, a += m * k, b += k * n, c += m * n)
        for (size_t i = 0; i < m; ++i)
            for (size_t j = 0; j < n; ++j) {
                for (size_t p = 0; p < k; ++p) c[i * n + j] += a[i * k + p] * b[p * n + j];
            }
}
