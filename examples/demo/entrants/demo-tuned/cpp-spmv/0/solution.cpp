#include "spmv.h"

// Four sums that do not wait for each other.
void spmv(int rows, const int* row_starts, const int* columns, const double* values, const double* x, double* y) {
    for (int row = 0; row < rows; ++row) {
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        int i = row_starts[row];
        const int end = row_starts[row + 1];
        for (; i + 4 <= end; i += 4) {
            s0 += values[i] * x[columns[i]];
            s1 += values[i + 1] * x[columns[i + 1]];
            s2 += values[i + 2] * x[columns[i + 2]];
            s3 += values[i + 3] * x[columns[i + 3]];
        }
        for (; i < end; ++i) s0 += values[i] * x[columns[i]];
        y[row] = (s0 + s1) + (s2 + s3);
    }
}
