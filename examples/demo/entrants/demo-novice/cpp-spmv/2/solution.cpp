#include "spmv.h"

void spmv(int rows, const int* row_starts, const int* columns, const double* values, const double* x, double* y) {
    int row = 0;
    while (row < rows) {
        double total = 0;
        int place = row_starts[row];
        while (place < row_starts[row + 1]) {
            double factor = x[columns[place]];
            total = total + factor * values[place];
            place++;
        }
        y[row] = total;
        row++;
    }
}
