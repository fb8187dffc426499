#include "spmv_csr.h"

// One thread for each row.
__global__ void row_sums(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
                         int row_count) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= row_count) return;
    float sum = 0.0f;
    for (int e = row_starts[row]; e < row_starts[row + 1]; ++e) sum += values[e] * x[columns[e]];
    y[row] = sum;
}

void spmv_csr(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count,
              int column_count, int entry_count) {
    row_sums<<<(row_count + 255) / 256, 256>>>(row_starts, columns, values, x, y, row_count);
}
