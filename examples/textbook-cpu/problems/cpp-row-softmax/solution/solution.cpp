#include <cmath>

#include "row_softmax.h"

void row_softmax(const float* scores, float* shares, int rows, int columns) {
    for (int i = 0; i < rows; ++i, scores += columns, shares += columns) {
        float largest = -INFINITY;
        for (int j = 0; j < columns; ++j) largest = std::fmax(largest, scores[j]);
        double sum = 0.0;
        for (int j = 0; j < columns && largest > -INFINITY; ++j) sum += std::exp(scores[j] - largest);
        for (int j = 0; j < columns; ++j) {
            shares[j] = sum > 0.0 ? static_cast<float>(std::exp(scores[j] - largest) / sum) : 0.0f;
        }
    }
}
