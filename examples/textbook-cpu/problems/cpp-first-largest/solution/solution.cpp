#include "first_largest.h"

void first_largest(const float* values, int count, int* place) {
    int best = -1;
    for (int i = 0; i < count; ++i) {
        const bool is_number = values[i] == values[i];
        if (is_number && (best < 0 || values[i] > values[best])) best = i;
    }
    *place = best;
}
