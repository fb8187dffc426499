#include "warp_sums.h"

__global__ static void add_groups(const unsigned* values, unsigned* sums, int count) {
    const int groups = (count + 31) / 32, lane = threadIdx.x % 32;
    for (int g = (blockIdx.x * blockDim.x + threadIdx.x) / 32; g < groups; g += gridDim.x * blockDim.x / 32) {
        unsigned sum = 32 * g + lane < count ? values[32 * g + lane] : 0u;
        for (int distance = 1; distance < 32; distance *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        if (lane == 0) sums[g] = sum;
    }
}

void warp_sums(const unsigned* values, unsigned* sums, int count) {
    add_groups<<<64, 128>>>(values, sums, count);
}
