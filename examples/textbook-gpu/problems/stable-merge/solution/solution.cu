#include "stable_merge.h"

// How many of the keys are less than `key`.
__device__ static int count_less(const int* keys, int count, int key) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// How many of the keys are at most `key`.
__device__ static int count_not_greater(const int* keys, int count, int key) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (keys[middle] <= key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

__global__ static void place(const int* a_keys, const int* a_items, int a_count, const int* b_keys, const int* b_items,
                             int b_count, int* keys, int* items) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a_count) {
        const int to = i + count_less(b_keys, b_count, a_keys[i]);
        keys[to] = a_keys[i];
        items[to] = a_items[i];
    } else if (i < a_count + b_count) {
        const int j = i - a_count;
        const int to = j + count_not_greater(a_keys, a_count, b_keys[j]);
        keys[to] = b_keys[j];
        items[to] = b_items[j];
    }
}

void stable_merge(const int* a_keys, const int* a_items, int a_count, const int* b_keys, const int* b_items, int b_count,
                  int* keys, int* items) {
    const int count = a_count + b_count;
    if (count == 0) return;
    place<<<(count + 255) / 256, 256>>>(a_keys, a_items, a_count, b_keys, b_items, b_count, keys, items);
}
