#include "vector_blend.h"

void vector_blend(const float* x, const float* y, float a, float b, float* blend, int count) {
    const float* const end = x + count;
    while (x != end) *blend++ = a * *x++ + b * *y++;
}
