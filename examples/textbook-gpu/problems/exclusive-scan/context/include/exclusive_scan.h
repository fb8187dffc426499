// The function to implement.
#pragma once

// sums[i] = values[0] + ... + values[i - 1] for i in [0, count).
void exclusive_scan(const int* values, long long* sums, int count);
