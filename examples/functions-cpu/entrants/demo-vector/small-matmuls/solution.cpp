// Two rows by sixteen columns of c at a time stay in vector registers, and the inner loop runs along rows of b.
#include <cstddef>
#include <cstring>

typedef float Sixteen __attribute__((vector_size(64)));

static void block_of_two_rows(const float* a, const float* b, float* c, size_t n, size_t k) {
    Sixteen upper = {}, lower = {}, row;
    for (size_t p = 0; p < k; ++p) {
        std::memcpy(&row, b + p * n, sizeof row);
        upper += a[p] * row;
        lower += a[k + p] * row;
    }
    std::memcpy(c, &upper, sizeof upper);
    std::memcpy(c + n, &lower, sizeof lower);
}

static void one_element(const float* a, const float* b, float* c, size_t n, size_t k) {
    float sum = 0;
    for (size_t p = 0; p < k; ++p) sum += a[p] * b[p * n];
    *c = sum;
}

static void product(const float* a, const float* b, float* c, size_t m, size_t n, size_t k) {
    const size_t even = m - m % 2, whole = n - n % 16;
    for (size_t i = 0; i < even; i += 2)
        for (size_t j = 0; j < whole; j += 16) block_of_two_rows(a + i * k, b + j, c + i * n + j, n, k);
    for (size_t i = 0; i < m; ++i)
        for (size_t j = i < even ? whole : 0; j < n; ++j) one_element(a + i * k, b + j, c + i * n + j, n, k);
}

extern "C" void solution(const float* a, const float* b, float* c, size_t batch, size_t m, size_t n, size_t k) {
    for (size_t item = 0; item < batch; ++item) product(a + item * m * k, b + item * k * n, c + item * m * n, m, n, k);
}
