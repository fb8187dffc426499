#include <cstddef>

extern "C" void solution(float* grid, float rate, size_t steps, size_t rows, size_t cols) {
    for (size_t step = 0; step < steps; ++step)
        for (size_t row = 1; row + 1 < rows; ++row)
            for (size_t col = 1; col + 1 < cols; ++col) {
                float* at = grid + row * cols + col;
                *at += rate * (at[-ptrdiff_t(cols)] + at[cols] + at[-1] + at[1] - 4 * *at);
            }
}
