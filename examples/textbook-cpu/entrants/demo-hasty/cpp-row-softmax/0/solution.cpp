#include <cmath>

#include "row_softmax.h"

void row_softmax(const float* scores, float* shares, int rows, int columns) {
    for (int i = 0; i < rows; ++i) {
        const float* s = scores + i * columns;
        float m = -INFINITY;
        for (int j = 0; j < columns; ++j) m = s[j] > m ? s[j] : m;
        if (m == -INFINITY) m = 0;
        float sum = 0;
        for (int j = 0; j < columns; ++j) sum += std::exp(s[j] - m);
        for (int j = 0; j < columns; ++j) shares[i * columns + j] = sum == 0 ? 0 : std::exp(s[j] - m) / sum;
    }
}
