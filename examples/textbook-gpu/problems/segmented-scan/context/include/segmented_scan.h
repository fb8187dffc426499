// The function to implement.
#pragma once

#include <cstdint>

// sums[i] = values from the start of i's segment to i, added up modulo 2^32; heads[i] != 0 starts a segment.
void segmented_scan(const std::uint32_t* values, const std::uint8_t* heads, std::uint32_t* sums, int count);
