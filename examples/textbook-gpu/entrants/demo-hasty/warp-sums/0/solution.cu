#include "warp_sums.h"

__global__ void kernel(const unsigned* values, unsigned* sums, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = i < count ? values[i] : 0;
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    if (!(i & 31) && i < count) sums[i >> 5] = v;
}

void warp_sums(const unsigned* values, unsigned* sums, int count) {
    kernel<<<count / 128 + 1, 128>>>(values, sums, count);
}
