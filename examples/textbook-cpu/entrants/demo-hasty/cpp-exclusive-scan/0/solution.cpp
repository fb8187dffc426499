#include "exclusive_scan.h"

void exclusive_scan(const int* values, long long* sums, int count) {
    sums[0] = 0;
    for (int i = 1; i < count; ++i) sums[i] = sums[i - 1] + values[i - 1];
}
