#include "spmv_ell.h"

void spmv_ell(const int* columns, const float* values, const float* x, float* y, int rows, int width) {
    for (int r = 0; r < rows; ++r) {
        y[r] = 0;
        for (int s = 0; s < width; ++s) {
            const int c = columns[s * rows + r];
            if (c != -1) y[r] += values[s * rows + r] * x[c];
        }
    }
}
