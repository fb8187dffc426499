#include "spmv.h"

// Three sums, by pointers.
void spmv(int rows, const int* row_starts, const int* columns, const double* values, const double* x, double* y) {
    for (int row = 0; row < rows; ++row) {
        const int* column = columns + row_starts[row];
        const int* const end = columns + row_starts[row + 1];
        const double* value = values + row_starts[row];
        double first = 0, second = 0, third = 0;
        for (; end - column >= 3; column += 3, value += 3) {
            first += value[0] * x[column[0]];
            second += value[1] * x[column[1]];
            third += value[2] * x[column[2]];
        }
        while (column != end) first += *value++ * x[*column++];
        y[row] = first + second + third;
    }
}
