// Wrong on purpose: points are overwritten while their neighbours still need the old values.
#include <cstddef>

extern "C" void solution(float* grid, float rate, size_t steps, size_t rows, size_t cols) {
    for (size_t step = 0; step < steps; ++step)
        for (size_t row = 1; row + 1 < rows; ++row)
            for (size_t col = 1; col + 1 < cols; ++col) {
                const size_t at = row * cols + col;
                grid[at] += rate * (grid[at - cols] + grid[at + cols] + grid[at - 1] + grid[at + 1] - 4 * grid[at]);
            }
}
