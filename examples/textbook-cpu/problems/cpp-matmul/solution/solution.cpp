#include "matmul.h"

void matmul(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            float sum = 0.0f;
            for (int k = 0; k < depth; ++k) sum += left[row * depth + k] * right[k * columns + column];
            product[row * columns + column] = sum;
        }
    }
}
