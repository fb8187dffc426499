// The function to implement.
#pragma once

// y = A * x for a sparse matrix A with `rows` rows in compressed sparse row form: the entries of row r are
// (columns[i], values[i]) for i = row_starts[r] .. row_starts[r + 1] - 1, and row_starts has rows + 1 elements.
// Columns of a row come in any order and may repeat (their values add up); rows may be empty; rows may be 0.
// `y` holds arbitrary bytes on entry.
void spmv(int rows, const int* row_starts, const int* columns, const double* values, const double* x, double* y);
