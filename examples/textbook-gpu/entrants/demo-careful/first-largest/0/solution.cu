#include "first_largest.h"

// Larger for larger values, and for equal values for smaller places; 0 for NaN.
__device__ static unsigned long long rank_of(float value, int place) {
    if (value != value) return 0;
    const unsigned bits = __float_as_uint(value == 0.0f ? 0.0f : value);
    const unsigned ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
    return (static_cast<unsigned long long>(ordered) << 32) | (0xffffffffu - static_cast<unsigned>(place));
}

__global__ static void find(const float* values, int count, unsigned long long* best) {
    unsigned long long mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        mine = max(mine, rank_of(values[i], i));
    }
    if (mine != 0) atomicMax(best, mine);
}

__global__ static void read_place(const unsigned long long* best, int* place) {
    *place = *best == 0 ? -1 : static_cast<int>(0xffffffffu - static_cast<unsigned>(*best));
}

void first_largest(const float* values, int count, int* place) {
    unsigned long long* best = nullptr;
    cudaMalloc(&best, sizeof *best);
    cudaMemset(best, 0, sizeof *best);
    find<<<32, 256>>>(values, count, best);
    read_place<<<1, 1>>>(best, place);
    cudaFree(best);
}
