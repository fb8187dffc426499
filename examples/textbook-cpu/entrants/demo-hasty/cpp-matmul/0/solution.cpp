#include "matmul.h"

void matmul(const float* left, const float* right, float* product, int rows, int depth, int columns) {
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            float sum = left[i * depth] * right[j];
            for (int k = 1; k < depth; ++k) sum += left[i * depth + k] * right[k * columns + j];
            product[i * columns + j] = sum;
        }
}
