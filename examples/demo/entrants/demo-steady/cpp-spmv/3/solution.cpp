#include "spmv.h"

// Two entries a step.
void spmv(int rows, const int* row_starts, const int* columns, const double* values, const double* x, double* y) {
    for (int row = 0; row < rows; ++row) {
        double sum = 0.0;
        for (int i = row_starts[row]; i < row_starts[row + 1] - 1; i += 2) {
            sum += values[i] * x[columns[i]] + values[i + 1] * x[columns[i + 1]];
        }
        y[row] = sum;
    }
}
