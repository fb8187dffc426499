// One thread for each number, and one atomic addition in global memory.
#include <cmath>
#include <cstddef>
#include <cstdint>

constexpr int BINS = 4096, THREADS = 256;
using Count = unsigned long long;

__global__ void clear(Count* counts) { counts[blockIdx.x * THREADS + threadIdx.x] = 0; }

__global__ void count(const float* values, Count* counts, size_t n) {
    const size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (i >= n) return;
    const float at = floorf(values[i] * BINS);
    if (at >= 0 && at < BINS) atomicAdd(counts + int(at), Count(1));
}

extern "C" void solution(const float* values, int64_t* counts, size_t n) {
    Count* bins = reinterpret_cast<Count*>(counts);
    clear<<<BINS / THREADS, THREADS>>>(bins);
    count<<<(n + THREADS - 1) / THREADS, THREADS>>>(values, bins, n);
}
