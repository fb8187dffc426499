#include "exclusive_scan.h"

void exclusive_scan(const int* values, long long* sums, int count) {
    long long sum = 0;
    for (int i = 0; i < count; ++i) {
        sums[i] = sum;
        sum += values[i];
    }
}
