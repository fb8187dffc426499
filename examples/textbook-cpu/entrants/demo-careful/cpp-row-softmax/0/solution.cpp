#include <algorithm>
#include <cmath>

#include "row_softmax.h"

void row_softmax(const float* scores, float* shares, int rows, int columns) {
    if (columns == 0) return;
    for (int i = 0; i < rows; ++i) {
        const float* row = scores + i * columns;
        float* out = shares + i * columns;
        const float largest = *std::max_element(row, row + columns);
        double sum = 0.0;
        for (int j = 0; j < columns; ++j) {
            out[j] = std::isinf(largest) ? 0.0f : std::exp(row[j] - largest);
            sum += out[j];
        }
        for (int j = 0; j < columns && sum > 0.0; ++j) out[j] = static_cast<float>(out[j] / sum);
    }
}
