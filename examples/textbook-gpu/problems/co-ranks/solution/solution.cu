#include "co_ranks.h"

__global__ static void search(const int* a, int a_count, const int* b, int b_count, const int* ranks, int rank_count,
                              int* from_a) {
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= rank_count) return;
    const int rank = ranks[q];
    int low = max(0, rank - b_count), high = min(rank, a_count);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (a[middle] <= b[rank - middle - 1]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    from_a[q] = low;
}

void co_ranks(const int* a, int a_count, const int* b, int b_count, const int* ranks, int rank_count, int* from_a) {
    if (rank_count > 0) search<<<(rank_count + 255) / 256, 256>>>(a, a_count, b, b_count, ranks, rank_count, from_a);
}
