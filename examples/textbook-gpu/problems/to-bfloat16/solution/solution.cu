#include "to_bfloat16.h"

__global__ static void round_all(const std::uint32_t* bits, std::uint16_t* rounded, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const std::uint32_t value = bits[i];
    const bool is_nan = (value & 0x7fffffffu) > 0x7f800000u;
    const std::uint32_t is_odd = (value >> 16) & 1;
    rounded[i] = static_cast<std::uint16_t>(is_nan ? 0x7fc0u : (value + 0x7fffu + is_odd) >> 16);
}

void to_bfloat16(const std::uint32_t* bits, std::uint16_t* rounded, int count) {
    if (count > 0) round_all<<<(count + 255) / 256, 256>>>(bits, rounded, count);
}
