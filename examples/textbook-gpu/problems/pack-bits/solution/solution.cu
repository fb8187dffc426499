#include "pack_bits.h"

constexpr unsigned all_lanes = 0xffffffffu;

__global__ static void compare(const float* values, float threshold, unsigned* words, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool exceeds = i < count && values[i] > threshold;
    const unsigned word = __ballot_sync(all_lanes, exceeds);
    if (i % 32 == 0 && i < count) words[i / 32] = word;
}

void pack_bits(const float* values, float threshold, unsigned* words, int count) {
    if (count > 0) compare<<<(count + 255) / 256, 256>>>(values, threshold, words, count);
}
