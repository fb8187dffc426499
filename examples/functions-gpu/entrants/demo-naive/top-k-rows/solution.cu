// One thread for each row. It keeps the largest numbers so far in the results, and moves the smaller ones back for each larger.
#include <cstddef>
#include <cstdint>

constexpr int THREADS = 128;

__global__ void choose(const float* scores, float* best, int32_t* places, size_t rows, size_t cols, size_t k) {
    const size_t row = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (row >= rows) return;
    const float* in = scores + row * cols;
    float* chosen = best + row * k;
    int32_t* from = places + row * k;
    for (size_t col = 0; col < cols; ++col) {
        if (col >= k && in[col] <= chosen[k - 1]) continue;
        size_t at = col < k ? col : k - 1;
        for (; at > 0 && chosen[at - 1] < in[col]; --at) {
            chosen[at] = chosen[at - 1];
            from[at] = from[at - 1];
        }
        chosen[at] = in[col];
        from[at] = int32_t(col);
    }
}

extern "C" void solution(const float* scores, float* best, int32_t* places, size_t rows, size_t cols, size_t k) {
    choose<<<(rows + THREADS - 1) / THREADS, THREADS>>>(scores, best, places, rows, cols, k);
}
