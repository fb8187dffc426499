#include "coo_to_csr.h"

__global__ void kernel(const int* rows, const int* columns, const std::uint32_t* values, int count, int row_count, int* row_starts,
                       int* csr_columns, std::uint32_t* csr_values) {
    int to = 0;
    for (int r = 0; r < row_count; r++) {
        row_starts[r] = to;
        for (int i = 0; i < count; i++)
            if (rows[i] == r) {
                csr_columns[to] = columns[i];
                csr_values[to++] = values[i];
            }
    }
    row_starts[row_count] = to;
}

void coo_to_csr(const int* rows, const int* columns, const std::uint32_t* values, int count, int row_count, int* row_starts,
                int* csr_columns, std::uint32_t* csr_values) {
    kernel<<<1, 1>>>(rows, columns, values, count, row_count, row_starts, csr_columns, csr_values);
}
