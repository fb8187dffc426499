#include "co_ranks.h"

// The smallest i such that a[i] belongs behind the first `rank` elements.
__global__ static void search(const int* a, int a_count, const int* b, int b_count, const int* ranks, int rank_count,
                              int* from_a) {
    for (int q = blockIdx.x * blockDim.x + threadIdx.x; q < rank_count; q += gridDim.x * blockDim.x) {
        int low = ranks[q] > b_count ? ranks[q] - b_count : 0;
        int size = min(ranks[q], a_count) - low;
        while (size > 0) {
            const int half = size / 2, middle = low + half;
            if (a[middle] <= b[ranks[q] - middle - 1]) {
                low = middle + 1;
                size -= half + 1;
            } else {
                size = half;
            }
        }
        from_a[q] = low;
    }
}

void co_ranks(const int* a, int a_count, const int* b, int b_count, const int* ranks, int rank_count, int* from_a) {
    search<<<64, 128>>>(a, a_count, b, b_count, ranks, rank_count, from_a);
}
