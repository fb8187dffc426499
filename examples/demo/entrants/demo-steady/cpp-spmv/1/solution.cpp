#include "spmv.h"

static double row_product(const int* column, const int* end, const double* value, const double* x) {
    double sum = 0.0;
    while (column != end) sum += *value++ * x[*column++];
    return sum;
}

void spmv(int rows, const int* row_starts, const int* columns, const double* values, const double* x, double* y) {
    for (int row = 0; row < rows; ++row) {
        y[row] = row_product(columns + row_starts[row], columns + row_starts[row + 1], values + row_starts[row], x);
    }
}
