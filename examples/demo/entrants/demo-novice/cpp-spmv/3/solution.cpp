#include "spmv.h"

void spmv(int rows, const int* row_starts, const int* columns, const double* values, const double* x, double* y) {
    for (int row = 0; row < rows; row++) {
        y[row] = 0;
        for (int i = row_starts[row]; i < row_starts[row + 1]; i++) {
            y[row] += values[i] * x.at(columns[i]);
        }
    }
}
