#include "spmv_csr.h"

// A warp for each row, an entry for each of its lanes, twice: rows have 64 entries at most.
__global__ void row_sums(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
                         int row_count) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= row_count) return;
    const int first = row_starts[row] + threadIdx.x % 32, end = row_starts[row + 1];
    float sum = 0.0f;
    if (first < end) sum += values[first] * x[columns[first]];
    if (first + 32 < end) sum += values[first + 32] * x[columns[first + 32]];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) y[row] = sum;
}

void spmv_csr(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count,
              int column_count, int entry_count) {
    row_sums<<<(row_count + 7) / 8, 256>>>(row_starts, columns, values, x, y, row_count);
}
