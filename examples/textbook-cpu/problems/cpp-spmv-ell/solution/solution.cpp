#include "spmv_ell.h"

void spmv_ell(const int* columns, const float* values, const float* x, float* y, int rows, int width) {
    for (int row = 0; row < rows; ++row) {
        float sum = 0.0f;
        for (int slot = 0; slot < width; ++slot) {
            const int column = columns[slot * rows + row];
            if (column >= 0) sum += values[slot * rows + row] * x[column];
        }
        y[row] = sum;
    }
}
