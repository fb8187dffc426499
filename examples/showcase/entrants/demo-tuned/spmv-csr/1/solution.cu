#include "spmv_csr.h"

// A block takes 128 rows and reads their entries in portions as one stream, whatever the rows' lengths; the products
// wait in shared memory until two threads for each row have added them up.
constexpr int threads = 256, rows_per_block = 128, portion = 4096;

__global__ void __launch_bounds__(threads) row_sums(const int* row_starts, const int* columns, const float* values,
                                                    const float* x, float* y, int row_count) {
    __shared__ float products[portion];
    const int first_row = blockIdx.x * rows_per_block;
    const int last_row = min(first_row + rows_per_block, row_count);
    const int start = row_starts[first_row], end = row_starts[last_row];
    const int row = first_row + threadIdx.x / 2;
    const int row_start = row < last_row ? row_starts[row] : end;
    const int row_end = row < last_row ? row_starts[row + 1] : end;
    float sum = 0.0f;
    for (int from = start; from < end; from += portion) {
        const int count = min(portion, end - from);
#pragma unroll 4
        for (int i = threadIdx.x; i < count; i += threads) {
            products[i] = __ldcs(values + from + i) * __ldg(x + __ldcs(columns + from + i));
        }
        __syncthreads();
        const int low = max(row_start - from, 0), high = min(row_end - from, count);
        for (int i = low + int(threadIdx.x % 2); i < high; i += 2) sum += products[i];
        __syncthreads();
    }
    sum += __shfl_down_sync(0xffffffffu, sum, 1, 2);
    if (threadIdx.x % 2 == 0 && row < last_row) y[row] = sum;
}

void spmv_csr(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count,
              int column_count, int entry_count) {
    row_sums<<<(row_count + rows_per_block - 1) / rows_per_block, threads>>>(row_starts, columns, values, x, y,
                                                                             row_count);
}
