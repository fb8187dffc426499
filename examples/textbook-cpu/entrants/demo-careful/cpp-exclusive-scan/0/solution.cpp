#include <numeric>

#include "exclusive_scan.h"

void exclusive_scan(const int* values, long long* sums, int count) {
    std::exclusive_scan(values, values + count, sums, 0LL);
}
