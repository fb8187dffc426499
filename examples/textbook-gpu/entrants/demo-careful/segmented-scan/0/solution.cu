#include "segmented_scan.h"

// Each thread does the segments that begin in its part, to their ends.
__global__ static void scan_segments(const std::uint32_t* values, const std::uint8_t* heads, std::uint32_t* sums, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        if (i > 0 && heads[i] == 0) continue;
        std::uint32_t sum = 0;
        int at = i;
        do {
            sum += values[at];
            sums[at++] = sum;
        } while (at < count && heads[at] == 0);
    }
}

void segmented_scan(const std::uint32_t* values, const std::uint8_t* heads, std::uint32_t* sums, int count) {
    scan_segments<<<128, 128>>>(values, heads, sums, count);
}
