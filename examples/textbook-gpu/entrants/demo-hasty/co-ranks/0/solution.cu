#include "co_ranks.h"

__global__ void kernel(const int* a, int an, const int* b, int bn, const int* ranks, int n, int* from_a) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= n) return;
    int i = max(0, ranks[q] - bn);
    while (i < an && i < ranks[q] && a[i] <= b[ranks[q] - i - 1]) i++;
    from_a[q] = i;
}

void co_ranks(const int* a, int a_count, const int* b, int b_count, const int* ranks, int rank_count, int* from_a) {
    kernel<<<rank_count / 256 + 1, 256>>>(a, a_count, b, b_count, ranks, rank_count, from_a);
}
