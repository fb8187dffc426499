#include "first_largest.h"

constexpr int threads = 256;

// The better of two places, each of which may be -1.
__device__ static int better(const float* values, int left, int right) {
    if (left < 0 || right < 0) return max(left, right);
    if (values[left] != values[right]) return values[left] > values[right] ? left : right;
    return min(left, right);
}

__global__ static void find(const float* values, int count, int* place) {
    __shared__ int places[threads];
    int mine = -1;
    for (int i = threadIdx.x; i < count; i += threads) {
        if (!isnan(values[i])) mine = better(values, mine, i);
    }
    places[threadIdx.x] = mine;
    for (int distance = threads / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) {
            places[threadIdx.x] = better(values, places[threadIdx.x], places[threadIdx.x + distance]);
        }
    }
    if (threadIdx.x == 0) *place = places[0];
}

void first_largest(const float* values, int count, int* place) {
    find<<<1, threads>>>(values, count, place);
}
