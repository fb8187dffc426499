// One warp for each update; atomic additions, so that updates of one row may come together.
#include <cstddef>
#include <cstdint>

constexpr int WARPS = 8;

__global__ void add(float* table, const int64_t* index, const float* updates, size_t n, size_t width) {
    const size_t update = blockIdx.x * size_t(WARPS) + threadIdx.y;
    if (update >= n) return;
    float* row = table + index[update] * width;
    for (size_t col = threadIdx.x; col < width; col += 32) atomicAdd(row + col, updates[update * width + col]);
}

extern "C" void solution(float* table, const int64_t* index, const float* updates, size_t rows, size_t n, size_t width) {
    add<<<(n + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(table, index, updates, n, width);
}
