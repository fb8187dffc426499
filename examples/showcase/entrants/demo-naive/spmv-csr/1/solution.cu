#include "spmv_csr.h"

// One thread for each entry, which looks for its row and adds to it.
__global__ void add_entries(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
                            int row_count, int entry_count) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= entry_count) return;
    int low = 0, high = row_count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (row_starts[middle] <= e) {
            low = middle;
        } else {
            high = middle;
        }
    }
    atomicAdd(&y[low], values[e] * x[columns[e]]);
}

void spmv_csr(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count,
              int column_count, int entry_count) {
    cudaMemset(y, 0, row_count * sizeof(float));
    if (entry_count == 0) return;
    add_entries<<<(entry_count + 255) / 256, 256>>>(row_starts, columns, values, x, y, row_count, entry_count);
}
