#include "long_sum.h"

void long_sum(const int* values, int count, long long* sum) {
    long long total = 0;
    for (int i = 0; i < count; ++i) total += values[i];
    *sum = total;
}
