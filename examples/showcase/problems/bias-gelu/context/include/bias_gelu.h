// The function to implement.
#pragma once

#include <cstddef>

// out[r][c] = residual[r][c] + gelu(x[r][c] + bias[c]) with gelu(v) = v / 2 * (1 + erf(v / sqrt(2))).
// Device pointers; x, residual and out are rows x columns, row-major, bias has `columns` elements.
// Pointers are aligned to four bytes and no more; `rows` and `columns` may be 0.
void bias_gelu(const float* x, const float* bias, const float* residual, float* out, std::size_t rows,
               std::size_t columns);
