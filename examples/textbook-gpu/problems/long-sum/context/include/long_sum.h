// The function to implement.
#pragma once

// *sum = values[0] + ... + values[count - 1].
void long_sum(const int* values, int count, long long* sum);
