// One row after another.
#include <cstddef>
#include <cstdint>

extern "C" void solution(const int64_t* row_starts, const int32_t* columns, const double* values, const double* x, double* y,
                         size_t rows, size_t cols, size_t entries) {
    for (size_t row = 0; row < rows; ++row) {
        double sum = 0;
        for (int64_t i = row_starts[row]; i < row_starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
        y[row] = sum;
    }
}
