#include <algorithm>

#include "matmul.h"

void matmul(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    std::fill(product, product + static_cast<long>(rows) * columns, 0.0f);
    for (int row = 0; row < rows; ++row) {
        for (int k = 0; k < depth; ++k) {
            const float factor = left[row * depth + k];
            for (int column = 0; column < columns; ++column) product[row * columns + column] += factor * right[k * columns + column];
        }
    }
}
