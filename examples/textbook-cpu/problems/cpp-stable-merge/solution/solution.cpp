#include "stable_merge.h"

void stable_merge(const int* a_keys, const int* a_items, int a_count, const int* b_keys, const int* b_items, int b_count,
                  int* keys, int* items) {
    int a = 0, b = 0;
    for (int to = 0; to < a_count + b_count; ++to) {
        const bool takes_a = b == b_count || (a < a_count && a_keys[a] <= b_keys[b]);
        keys[to] = takes_a ? a_keys[a] : b_keys[b];
        items[to] = takes_a ? a_items[a++] : b_items[b++];
    }
}
