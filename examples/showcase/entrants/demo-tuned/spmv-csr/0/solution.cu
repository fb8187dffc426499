#include "spmv_csr.h"

// Eight lanes for each row: enough to read in one go what a row of thirty entries has, and few of them idle.
constexpr int lanes = 8, threads = 256, rows_per_block = threads / lanes;

__global__ void __launch_bounds__(threads) row_sums(const int* row_starts, const int* columns, const float* values,
                                                    const float* x, float* y, int row_count) {
    const int row = blockIdx.x * rows_per_block + threadIdx.x / lanes;
    const int lane = threadIdx.x % lanes;
    float sum = 0.0f;
    if (row < row_count) {
        const int end = __ldg(row_starts + row + 1);
        int e = __ldg(row_starts + row) + lane;
        for (; e + lanes < end; e += 2 * lanes) {
            const int column = __ldg(columns + e), next_column = __ldg(columns + e + lanes);
            const float value = __ldg(values + e), next_value = __ldg(values + e + lanes);
            sum = fmaf(value, __ldg(x + column), sum);
            sum = fmaf(next_value, __ldg(x + next_column), sum);
        }
        if (e < end) sum = fmaf(__ldg(values + e), __ldg(x + __ldg(columns + e)), sum);
    }
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step, lanes);
    if (lane == 0 && row < row_count) y[row] = sum;
}

void spmv_csr(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count,
              int column_count, int entry_count) {
    const int blocks = (row_count + rows_per_block - 1) / rows_per_block;
    row_sums<<<blocks, threads>>>(row_starts, columns, values, x, y, row_count);
}
