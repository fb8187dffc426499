#include "spmv_csr.h"

// Half a warp for each row, all of whose lanes add to y at once.
__global__ void row_sums(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
                         int row_count) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 16;
    if (row >= row_count) return;
    float sum = 0.0f;
    for (int e = row_starts[row] + threadIdx.x % 16; e < row_starts[row + 1]; e += 16) {
        sum += values[e] * x[columns[e]];
    }
    y[row] += sum;
}

void spmv_csr(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count,
              int column_count, int entry_count) {
    cudaMemset(y, 0, row_count * sizeof(float));
    row_sums<<<(row_count + 15) / 16, 256>>>(row_starts, columns, values, x, y, row_count);
}
