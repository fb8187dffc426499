// Slow on purpose: one thread for each position, which passes once over the keys that it sees. The sums are kept in registers and are
// scaled whenever the largest score grows.
#include <cstddef>
#include <cuda_fp16.h>

constexpr int WIDTH = 64, THREADS = 128;

__global__ void attend(const __half* q, const __half* k, const __half* v, __half* y, float scale, size_t heads, size_t n) {
    const size_t position = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (position >= heads * n) return;
    const size_t first = position / n * n;
    float query[WIDTH], sums[WIDTH] = {}, largest = -INFINITY, total = 0;
    for (int c = 0; c < WIDTH; ++c) query[c] = __half2float(q[position * WIDTH + c]);
    for (size_t seen = first; seen <= position; ++seen) {
        float score = 0;
        for (int c = 0; c < WIDTH; ++c) score += query[c] * __half2float(k[seen * WIDTH + c]);
        score *= scale;
        if (score > largest) {
            const float shrink = expf(largest - score);
            total *= shrink;
            for (int c = 0; c < WIDTH; ++c) sums[c] *= shrink;
            largest = score;
        }
        const float weight = expf(score - largest);
        total += weight;
        for (int c = 0; c < WIDTH; ++c) sums[c] += weight * __half2float(v[seen * WIDTH + c]);
    }
    for (int c = 0; c < WIDTH; ++c) y[position * WIDTH + c] = __float2half(sums[c] / total);
}

extern "C" void solution(const __half* q, const __half* k, const __half* v, __half* y, float scale, size_t heads, size_t n) {
    attend<<<(heads * n + THREADS - 1) / THREADS, THREADS>>>(q, k, v, y, scale, heads, n);
}
