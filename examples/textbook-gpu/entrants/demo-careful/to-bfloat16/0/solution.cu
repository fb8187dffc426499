#include "to_bfloat16.h"

__global__ static void round_all(const std::uint32_t* bits, std::uint16_t* rounded, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const std::uint32_t kept = bits[i] >> 16, cut = bits[i] & 0xffffu;
        const bool is_nan = (bits[i] & 0x7fffffffu) > 0x7f800000u;
        const bool goes_up = cut > 0x8000u || (cut == 0x8000u && kept % 2 == 1);
        rounded[i] = is_nan ? 0x7fc0 : static_cast<std::uint16_t>(kept + (goes_up ? 1 : 0));
    }
}

void to_bfloat16(const std::uint32_t* bits, std::uint16_t* rounded, int count) {
    round_all<<<64, 256>>>(bits, rounded, count);
}
