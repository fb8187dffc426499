// The function to implement.
#pragma once

#include <cstdint>

// sums[k] = sum of the weights whose key is k, for k in [0, 256).
void weighted_histogram(const std::uint8_t* keys, const std::uint32_t* weights, int count, unsigned long long* sums);
