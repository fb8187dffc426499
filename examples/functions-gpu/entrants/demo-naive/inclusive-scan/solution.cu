// Sums of pairs, of fours and so on in place, and then those that lie between them: one launch for each length, both ways.
#include <cstddef>
#include <cstdint>

constexpr int THREADS = 256;

__global__ void copy(const int64_t* values, int64_t* sums, size_t n) {
    const size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (i < n) sums[i] = values[i];
}

// Adds the sum that ends `half` places before, at each place `first`, `first + 2 half`, ...
__global__ void add(int64_t* sums, size_t n, size_t first, size_t half) {
    const size_t at = first + (blockIdx.x * size_t(THREADS) + threadIdx.x) * 2 * half;
    if (at < n) sums[at] += sums[at - half];
}

static size_t blocks(size_t n, size_t half) { return n / (2 * half) / THREADS + 1; }

extern "C" void solution(const int64_t* values, int64_t* sums, size_t n) {
    copy<<<(n + THREADS - 1) / THREADS, THREADS>>>(values, sums, n);
    size_t half = 1;
    for (; 2 * half <= n; half *= 2) {
        add<<<blocks(n, half), THREADS>>>(sums, n, 2 * half - 1, half);
    }
    for (; half >= 1; half /= 2) {
        add<<<blocks(n, half), THREADS>>>(sums, n, 3 * half - 1, half);
    }
}
