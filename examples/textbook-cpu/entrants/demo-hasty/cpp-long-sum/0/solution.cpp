#include "long_sum.h"

void long_sum(const int* values, int count, long long* sum) {
    long long total = values[0];
    for (int i = 1; i < count; ++i) total += values[i];
    *sum = total;
}
