// The function to implement.
#pragma once

// *sum = values[0] + ... + values[count - 1], nearly as if added up in real numbers.
void careful_sum(const float* values, int count, float* sum);
