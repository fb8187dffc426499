// The function to implement.
#pragma once

#include <cstdint>

// Writes the pairs (keys_in[i], values_in[i]) for i = 0 .. count - 1 to keys_out and values_out in ascending order of
// their keys; pairs of equal keys keep their order. Pointers are to device memory; nothing overlaps. The inputs stay as
// they are, the outputs hold arbitrary bytes on entry. count >= 0.
void sort_pairs(const std::uint32_t* keys_in, const std::uint32_t* values_in, std::uint32_t* keys_out,
                std::uint32_t* values_out, int count);
