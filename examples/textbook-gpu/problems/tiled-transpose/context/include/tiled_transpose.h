// The function to implement.
#pragma once

#include <cstdint>

// transposed[j * rows + i] = matrix[i * columns + j] for i in [0, rows) and j in [0, columns).
void tiled_transpose(const std::uint32_t* matrix, std::uint32_t* transposed, int rows, int columns);
