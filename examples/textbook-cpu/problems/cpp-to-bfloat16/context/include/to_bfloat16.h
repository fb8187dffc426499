// The function to implement.
#pragma once

#include <cstdint>

// rounded[i] = bits of the bfloat16 nearest to the float with the bits bits[i], ties to even; NaN becomes 0x7fc0.
void to_bfloat16(const std::uint32_t* bits, std::uint16_t* rounded, int count);
