#include "spmv.h"

// Pairs of sums in vector lanes, eight entries a step.
typedef double Pair __attribute__((vector_size(16)));

static Pair products(const double* values, const int* columns, const double* x) {
    return Pair{values[0], values[1]} * Pair{x[columns[0]], x[columns[1]]};
}

static double row_sum(const double* values, const int* columns, const double* x, int count) {
    Pair first = {}, second = {}, third = {}, fourth = {};
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        first += products(values + i, columns + i, x);
        second += products(values + i + 2, columns + i + 2, x);
        third += products(values + i + 4, columns + i + 4, x);
        fourth += products(values + i + 6, columns + i + 6, x);
    }
    const Pair all = (first + second) + (third + fourth);
    double sum = all[0] + all[1];
    for (; i < count; ++i) sum += values[i] * x[columns[i]];
    return sum;
}

void spmv(int rows, const int* row_starts, const int* columns, const double* values, const double* x, double* y) {
    for (int row = 0; row < rows; ++row) {
        const int start = row_starts[row];
        y[row] = row_sum(values + start, columns + start, x, row_starts[row + 1] - start);
    }
}
