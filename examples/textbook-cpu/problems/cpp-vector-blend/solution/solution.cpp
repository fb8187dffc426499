#include "vector_blend.h"

void vector_blend(const float* x, const float* y, float a, float b, float* blend, int count) {
    for (int i = 0; i < count; ++i) blend[i] = a * x[i] + b * y[i];
}
