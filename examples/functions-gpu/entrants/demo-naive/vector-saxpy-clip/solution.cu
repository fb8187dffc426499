// One thread for each number.
#include <cstddef>

constexpr int THREADS = 256;

__global__ void clip(const float* x, const float* y, float* out, float a, float lo, float hi, size_t n) {
    const size_t at = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (at < n) out[at] = fminf(fmaxf(a * x[at] + y[at], lo), hi);
}

extern "C" void solution(const float* x, const float* y, float* out, float a, float lo, float hi, size_t n) {
    clip<<<(n + THREADS - 1) / THREADS, THREADS>>>(x, y, out, a, lo, hi, n);
}
