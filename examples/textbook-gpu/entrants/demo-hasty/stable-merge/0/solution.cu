#include "stable_merge.h"

__device__ int rank(const int* keys, int count, int key) {
    int low = 0, high = count;
    while (low < high) {
        int m = (low + high) / 2;
        if (keys[m] < key) low = m + 1;
        else high = m;
    }
    return low;
}

__global__ void kernel(const int* ak, const int* ai, int an, const int* bk, const int* bi, int bn, int* keys, int* items) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= an + bn) return;
    int to = i < an ? i + rank(bk, bn, ak[i]) : i - an + rank(ak, an, bk[i - an]);
    keys[to] = i < an ? ak[i] : bk[i - an];
    items[to] = i < an ? ai[i] : bi[i - an];
}

void stable_merge(const int* a_keys, const int* a_items, int a_count, const int* b_keys, const int* b_items, int b_count,
                  int* keys, int* items) {
    kernel<<<(a_count + b_count) / 256 + 1, 256>>>(a_keys, a_items, a_count, b_keys, b_items, b_count, keys, items);
}
