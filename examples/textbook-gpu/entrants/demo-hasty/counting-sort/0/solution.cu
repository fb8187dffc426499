#include "counting_sort.h"

__global__ void kernel(const std::uint8_t* keys, const int* items, int count, std::uint8_t* sk, int* si) {
    int to = 0;
    for (int k = 0; k < 255; k++)
        for (int i = 0; i < count; i++)
            if (keys[i] == k) {
                sk[to] = k;
                si[to++] = items[i];
            }
}

void counting_sort(const std::uint8_t* keys, const int* items, int count, std::uint8_t* sorted_keys, int* sorted_items) {
    kernel<<<1, 1>>>(keys, items, count, sorted_keys, sorted_items);
}
