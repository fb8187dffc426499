#include "spmv.h"

void spmv(int rows, const int* row_starts, const int* columns, const double* values, const double* x, double* y) {
    int i = 0;
    for (int row = 0; row < rows; ++row) {
        y[row] = 0.0;
        for (; i < row_starts[row + 1]; ++i) y[row] += values[i] * x[columns[i]];
    }
}
