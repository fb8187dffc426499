#include <algorithm>

#include "spmv_ell.h"

void spmv_ell(const int* columns, const float* values, const float* x, float* y, int rows, int width) {
    std::fill(y, y + rows, 0.0f);
    for (int slot = 0; slot < width; ++slot) {
        for (int row = 0; row < rows; ++row) {
            const int place = slot * rows + row;
            if (columns[place] >= 0) y[row] += values[place] * x[columns[place]];
        }
    }
}
