#include "to_bfloat16.h"

void to_bfloat16(const std::uint32_t* bits, std::uint16_t* rounded, int count) {
    for (int i = 0; i < count; ++i) {
        const std::uint32_t exponent = bits[i] >> 23 & 0xff, fraction = bits[i] & 0x7fffff;
        if (exponent == 0xff && fraction != 0) {
            rounded[i] = 0x7fc0;
            continue;
        }
        const std::uint32_t kept = bits[i] >> 16, cut = bits[i] & 0xffff;
        const bool goes_up = cut > 0x8000 || (cut == 0x8000 && (kept & 1) != 0);
        rounded[i] = static_cast<std::uint16_t>(kept + goes_up);
    }
}
