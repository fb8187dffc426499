#include "stable_merge.h"

constexpr int part = 64;

// How many of the first `rank` merged elements come from a.
__device__ static int split(const int* a, int a_count, const int* b, int b_count, int rank) {
    int low = max(0, rank - b_count), high = min(rank, a_count);
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (a[middle] <= b[rank - middle - 1]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

__global__ static void merge_parts(const int* a_keys, const int* a_items, int a_count, const int* b_keys, const int* b_items,
                                   int b_count, int* keys, int* items) {
    const int count = a_count + b_count, first = (blockIdx.x * blockDim.x + threadIdx.x) * part;
    if (first >= count) return;
    int a = split(a_keys, a_count, b_keys, b_count, first), b = first - a;
    for (int to = first; to < count && to < first + part; ++to) {
        const bool takes_a = b >= b_count || (a < a_count && a_keys[a] <= b_keys[b]);
        keys[to] = takes_a ? a_keys[a] : b_keys[b];
        items[to] = takes_a ? a_items[a++] : b_items[b++];
    }
}

void stable_merge(const int* a_keys, const int* a_items, int a_count, const int* b_keys, const int* b_items, int b_count,
                  int* keys, int* items) {
    const int parts = (a_count + b_count + part - 1) / part;
    if (parts > 0) merge_parts<<<(parts + 63) / 64, 64>>>(a_keys, a_items, a_count, b_keys, b_items, b_count, keys, items);
}
