#include "to_bfloat16.h"

__global__ void kernel(const std::uint32_t* bits, std::uint16_t* rounded, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    std::uint32_t b = bits[i];
    rounded[i] = (b & 0x7f800000) == 0x7f800000 ? b >> 16 : (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

void to_bfloat16(const std::uint32_t* bits, std::uint16_t* rounded, int count) {
    kernel<<<count / 256 + 1, 256>>>(bits, rounded, count);
}
