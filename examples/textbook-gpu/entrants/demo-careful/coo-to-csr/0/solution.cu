#include "coo_to_csr.h"

// By rank: an entry's place is the start of its row plus the number of its row's entries of lower columns.
__global__ static void count_entries(const int* rows, int count, int* row_starts) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        atomicAdd(&row_starts[rows[i] + 1], 1);
    }
}

__global__ static void add_up(int* row_starts, int row_count) {
    for (int row = 0; row < row_count; ++row) row_starts[row + 1] += row_starts[row];
}

__global__ static void gather(const int* rows, int count, const int* row_starts, int* filled, int* entries) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        entries[row_starts[rows[i]] + atomicAdd(&filled[rows[i]], 1)] = i;
    }
}

__global__ static void place(const int* rows, const int* columns, const std::uint32_t* values, int count, const int* row_starts,
                             const int* entries, int* csr_columns, std::uint32_t* csr_values) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int to = row_starts[rows[i]];
        for (int k = row_starts[rows[i]]; k < row_starts[rows[i] + 1]; ++k) to += columns[entries[k]] < columns[i] ? 1 : 0;
        csr_columns[to] = columns[i];
        csr_values[to] = values[i];
    }
}

void coo_to_csr(const int* rows, const int* columns, const std::uint32_t* values, int count, int row_count, int* row_starts,
                int* csr_columns, std::uint32_t* csr_values) {
    int *filled = nullptr, *entries = nullptr;
    cudaMalloc(&filled, (row_count + 1) * sizeof *filled);
    cudaMalloc(&entries, (count + 1) * sizeof *entries);
    cudaMemset(filled, 0, (row_count + 1) * sizeof *filled);
    cudaMemset(row_starts, 0, (row_count + 1) * sizeof *row_starts);
    count_entries<<<64, 128>>>(rows, count, row_starts);
    add_up<<<1, 1>>>(row_starts, row_count);
    gather<<<64, 128>>>(rows, count, row_starts, filled, entries);
    place<<<64, 128>>>(rows, columns, values, count, row_starts, entries, csr_columns, csr_values);
    cudaFree(filled);
    cudaFree(entries);
}
