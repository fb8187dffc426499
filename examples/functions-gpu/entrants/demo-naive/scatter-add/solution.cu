// One thread for each number, and one atomic addition.
#include <cstddef>
#include <cstdint>

constexpr int THREADS = 256;

__global__ void add(float* table, const int64_t* index, const float* updates, size_t count, size_t width) {
    const size_t at = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (at < count) atomicAdd(table + index[at / width] * width + at % width, updates[at]);
}

extern "C" void solution(float* table, const int64_t* index, const float* updates, size_t rows, size_t n, size_t width) {
    add<<<(n * width + THREADS - 1) / THREADS, THREADS>>>(table, index, updates, n * width, width);
}
