// One thread for each row.
#include <cstddef>
#include <cstdint>

constexpr int THREADS = 128;

__global__ void multiply(const int64_t* row_starts, const int32_t* columns, const float* values, const float* x, float* y, size_t rows) {
    const size_t row = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int64_t at = row_starts[row]; at < row_starts[row + 1]; ++at) sum += values[at] * x[columns[at]];
    y[row] = sum;
}

extern "C" void solution(const int64_t* row_starts, const int32_t* columns, const float* values, const float* x, float* y, size_t rows,
                         size_t cols, size_t entries) {
    multiply<<<(rows + THREADS - 1) / THREADS, THREADS>>>(row_starts, columns, values, x, y, rows);
}
