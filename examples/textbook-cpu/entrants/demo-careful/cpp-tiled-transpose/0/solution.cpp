#include <algorithm>

#include "tiled_transpose.h"

void tiled_transpose(const std::uint32_t* matrix, std::uint32_t* transposed, int rows, int columns) {
    constexpr int tile = 16;
    for (int top = 0; top < rows; top += tile) {
        for (int left = 0; left < columns; left += tile) {
            for (int i = top; i < std::min(rows, top + tile); ++i) {
                for (int j = left; j < std::min(columns, left + tile); ++j) transposed[j * rows + i] = matrix[i * columns + j];
            }
        }
    }
}
