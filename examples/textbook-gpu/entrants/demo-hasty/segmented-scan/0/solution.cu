#include "segmented_scan.h"

__global__ void kernel(const std::uint32_t* values, const std::uint8_t* heads, std::uint32_t* sums, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count || !heads[i]) return;
    std::uint32_t sum = 0;
    for (int j = i; j < count && (j == i || !heads[j]); j++) sums[j] = sum += values[j];
}

void segmented_scan(const std::uint32_t* values, const std::uint8_t* heads, std::uint32_t* sums, int count) {
    kernel<<<count / 256 + 1, 256>>>(values, heads, sums, count);
}
