#include "pack_bits.h"

__global__ void kernel(const float* values, float threshold, unsigned* words, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned word = __ballot_sync(i < count && values[i] > threshold);
    if (i % 32 == 0 && i < count) words[i / 32] = word;
}

void pack_bits(const float* values, float threshold, unsigned* words, int count) {
    kernel<<<count / 256 + 1, 256>>>(values, threshold, words, count);
}
