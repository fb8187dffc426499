// The function to implement.
#pragma once

#include <cstddef>

// out[r][c] = exp(x[r][c] - max_r) / sum_k exp(x[r][k] - max_r), where max_r is the largest element of row r.
// Device pointers, aligned as by cudaMalloc; both rows x columns, row-major. Elements are finite or -infinity;
// a row of nothing but -infinity gives zeros. `rows` and `columns` may be 0.
void row_softmax(const float* x, float* out, std::size_t rows, std::size_t columns);
