#include "coo_to_csr.h"

__global__ static void count_entries(const int* rows, int count, int* counts) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&counts[rows[i]], 1);
}

// Turns counts into starts; `next` receives a copy.
__global__ static void scan_counts(int* row_starts, int* next, int row_count) {
    int sum = 0;
    for (int row = 0; row <= row_count; ++row) {
        const int entries = row_starts[row];
        row_starts[row] = next[row] = sum;
        sum += entries;
    }
}

__global__ static void scatter(const int* rows, const int* columns, const std::uint32_t* values, int count, int* next,
                               int* csr_columns, std::uint32_t* csr_values) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int to = atomicAdd(&next[rows[i]], 1);
    csr_columns[to] = columns[i];
    csr_values[to] = values[i];
}

__global__ static void sort_rows(const int* row_starts, int row_count, int* csr_columns, std::uint32_t* csr_values) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= row_count) return;
    for (int i = row_starts[row] + 1; i < row_starts[row + 1]; ++i) {
        const int column = csr_columns[i];
        const std::uint32_t value = csr_values[i];
        int to = i;
        for (; to > row_starts[row] && csr_columns[to - 1] > column; --to) {
            csr_columns[to] = csr_columns[to - 1];
            csr_values[to] = csr_values[to - 1];
        }
        csr_columns[to] = column;
        csr_values[to] = value;
    }
}

void coo_to_csr(const int* rows, const int* columns, const std::uint32_t* values, int count, int row_count, int* row_starts,
                int* csr_columns, std::uint32_t* csr_values) {
    const int blocks = (count + 255) / 256;
    int* next = nullptr;
    cudaMalloc(&next, (row_count + 1) * sizeof *next);
    cudaMemset(row_starts, 0, (row_count + 1) * sizeof *row_starts);
    if (count > 0) count_entries<<<blocks, 256>>>(rows, count, row_starts);
    scan_counts<<<1, 1>>>(row_starts, next, row_count);
    if (count > 0) scatter<<<blocks, 256>>>(rows, columns, values, count, next, csr_columns, csr_values);
    if (row_count > 0) sort_rows<<<(row_count + 255) / 256, 256>>>(row_starts, row_count, csr_columns, csr_values);
    cudaFree(next);
}
