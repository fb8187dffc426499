#include "first_largest.h"

void first_largest(const float* values, int count, int* place) {
    int best = 0;
    for (int i = 1; i < count; ++i)
        if (values[i] > values[best]) best = i;
    *place = best;
}
