#include <numeric>

#include "spmv.h"

void spmv(int rows, const int* row_starts, const int* columns, const double* values, const double* x, double* y) {
    for (int row = 0; row < rows; ++row) {
        const int first = row_starts[row], last = row_starts[row + 1];
        y[row] = std::inner_product(values + first, values + last, columns + first, 0.0,
                                    [](double sum, double product) { return sum + product; },
                                    [x](double value, int column) { return value * x[column]; });
    }
}
