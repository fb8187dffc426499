#include "vector_blend.h"

void vector_blend(const float* x, const float* y, float a, float b, float* blend, int count) {
    int i = 0;
    while (i < count) {
        blend[i] = a * x[i] + b * y[i];
        i++;
    }
}
