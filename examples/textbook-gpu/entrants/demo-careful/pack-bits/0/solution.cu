#include "pack_bits.h"

__global__ static void compare(const float* values, float threshold, unsigned* words, int count) {
    const int size = (count + 31) / 32, lane = threadIdx.x % 32;
    for (int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32; w < size; w += gridDim.x * blockDim.x / 32) {
        const int i = 32 * w + lane;
        const unsigned word = __ballot_sync(0xffffffffu, i < count && values[i] > threshold);
        if (lane == 0) words[w] = word;
    }
}

void pack_bits(const float* values, float threshold, unsigned* words, int count) {
    compare<<<64, 128>>>(values, threshold, words, count);
}
