// The function to implement.
#pragma once

// y = A * x; slot s of row r of A is (columns[s * rows + r], values[s * rows + r]), empty if its column is -1.
void spmv_ell(const int* columns, const float* values, const float* x, float* y, int rows, int width);
