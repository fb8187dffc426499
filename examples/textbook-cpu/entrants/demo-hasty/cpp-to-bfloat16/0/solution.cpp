#include "to_bfloat16.h"

void to_bfloat16(const std::uint32_t* bits, std::uint16_t* rounded, int count) {
    for (int i = 0; i < count; ++i) rounded[i] = static_cast<std::uint16_t>((bits[i] + 0x7fff + (bits[i] >> 16 & 1)) >> 16);
}
