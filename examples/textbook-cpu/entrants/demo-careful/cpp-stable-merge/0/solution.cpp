#include "stable_merge.h"

void stable_merge(const int* a_keys, const int* a_items, int a_count, const int* b_keys, const int* b_items, int b_count,
                  int* keys, int* items) {
    int a = 0, b = 0, to = 0;
    while (a < a_count && b < b_count) {
        if (b_keys[b] < a_keys[a]) {
            keys[to] = b_keys[b];
            items[to++] = b_items[b++];
        } else {
            keys[to] = a_keys[a];
            items[to++] = a_items[a++];
        }
    }
    for (; a < a_count; ++a, ++to) {
        keys[to] = a_keys[a];
        items[to] = a_items[a];
    }
    for (; b < b_count; ++b, ++to) {
        keys[to] = b_keys[b];
        items[to] = b_items[b];
    }
}
