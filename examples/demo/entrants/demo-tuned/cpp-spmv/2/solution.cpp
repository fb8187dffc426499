#include "spmv.h"

// An array of eight sums, so that the compiler may keep them all in flight.
void spmv(int rows, const int* row_starts, const int* columns, const double* values, const double* x, double* y) {
    for (int row = 0; row < rows; ++row) {
        double sums[8] = {};
        int i = row_starts[row];
        for (; row_starts[row + 1] - i >= 8; i += 8) {
            for (int lane = 0; lane < 8; ++lane) sums[lane] += values[i + lane] * x[columns[i + lane]];
        }
        double total = 0.0;
        for (; i < row_starts[row + 1]; ++i) total += values[i] * x[columns[i]];
        for (const double sum : sums) total += sum;
        y[row] = total;
    }
}
