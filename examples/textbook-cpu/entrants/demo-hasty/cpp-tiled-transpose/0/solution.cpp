#include "tiled_transpose.h"

void tiled_transpose(const std::uint32_t* matrix, std::uint32_t* transposed, int rows, int columns) {
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) transposed[i + j * rows] = *matrix++;
}
