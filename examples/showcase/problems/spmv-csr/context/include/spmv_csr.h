// The function to implement.
#pragma once

// y = A * x for a sparse matrix of `row_count` rows and `column_count` columns in CSR form: row r has the entries
// row_starts[r] up to, but not including, row_starts[r + 1]; entry e is values[e] in column columns[e]. There are
// entry_count = row_starts[row_count] entries. All arrays are in device memory; row_count, column_count >= 1.
void spmv_csr(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count,
              int column_count, int entry_count);
