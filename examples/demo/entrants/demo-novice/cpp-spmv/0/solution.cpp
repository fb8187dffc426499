#include <vector>

#include "spmv.h"

void spmv(int rows, const int* row_starts, const int* columns, const double* values, const double* x, double* y) {
    std::vector<double> products(row_starts[rows]);
    for (int i = 0; i < row_starts[rows]; i++) products[i] = values[i] * x[columns[i]];
    for (int row = 0; row < rows; row++) {
        double sum = 0;
        for (int i = row_starts[row]; i < row_starts[row + 1]; i++) sum += products[i];
        y[row] = sum;
    }
}
