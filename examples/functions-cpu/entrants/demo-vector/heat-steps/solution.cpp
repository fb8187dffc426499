// Two steps at a time: a row of the first step is made just before the row of the second step that needs it.
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

static void step_row(const float* above, const float* here, const float* below, float* __restrict out, float rate, size_t cols) {
    out[0] = here[0];
    for (size_t col = 1; col + 1 < cols; ++col)
        out[col] = here[col] + rate * (above[col] + below[col] + here[col - 1] + here[col + 1] - 4 * here[col]);
    out[cols - 1] = here[cols - 1];
}

// One step in place; `kept` holds two rows of old values.
static void one_step(float* grid, float rate, size_t rows, size_t cols, std::vector<float>& kept) {
    float* above = kept.data();
    float* here = above + cols;
    std::memcpy(above, grid, cols * sizeof(float));
    for (size_t row = 1; row + 1 < rows; ++row) {
        float* at = grid + row * cols;
        std::memcpy(here, at, cols * sizeof(float));
        step_row(above, here, at + cols, at, rate, cols);
        std::swap(above, here);
    }
}

// Two steps in place; row r of the first step is kept until row r + 1 of the second is made.
static void two_steps(float* grid, float rate, size_t rows, size_t cols, std::vector<float>& kept) {
    float* before = kept.data();       // old values of the row above
    float* here = before + cols;       // old values of this row
    float* first[3] = {here + cols, here + 2 * cols, here + 3 * cols};  // the first step's rows: row - 2, row - 1, row
    const size_t bytes = cols * sizeof(float);
    std::memcpy(before, grid, bytes);
    std::memcpy(first[1], grid, bytes);
    for (size_t row = 1; row < rows; ++row) {
        float* at = grid + row * cols;
        if (row + 1 < rows) {
            std::memcpy(here, at, bytes);
            step_row(before, here, at + cols, first[2], rate, cols);
        } else {
            std::memcpy(first[2], at, bytes);
        }
        if (row >= 2) step_row(first[0], first[1], first[2], at - cols, rate, cols);
        std::swap(before, here);
        float* oldest = first[0];
        first[0] = first[1];
        first[1] = first[2];
        first[2] = oldest;
    }
}

extern "C" void solution(float* grid, float rate, size_t steps, size_t rows, size_t cols) {
    std::vector<float> kept(5 * cols);
    for (size_t pair = 0; pair < steps / 2; ++pair) two_steps(grid, rate, rows, cols, kept);
    if (steps % 2) one_step(grid, rate, rows, cols, kept);
}
