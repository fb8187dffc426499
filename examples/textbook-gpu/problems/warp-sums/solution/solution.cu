#include "warp_sums.h"

constexpr unsigned all_lanes = 0xffffffffu;

__global__ static void add_groups(const unsigned* values, unsigned* sums, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = i < count ? values[i] : 0;
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(all_lanes, sum, distance);
    if (i % 32 == 0 && i < count) sums[i / 32] = sum;
}

void warp_sums(const unsigned* values, unsigned* sums, int count) {
    if (count > 0) add_groups<<<(count + 255) / 256, 256>>>(values, sums, count);
}
