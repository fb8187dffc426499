#include "stable_merge.h"

void stable_merge(const int* a_keys, const int* a_items, int a_count, const int* b_keys, const int* b_items, int b_count,
                  int* keys, int* items) {
    int a = 0, b = 0;
    for (int i = 0; i < a_count + b_count; ++i) {
        bool take_a;
        if (a == a_count)
            take_a = false;
        else if (b == b_count)
            take_a = true;
        else
            take_a = a_keys[a] <= b_keys[b];
        keys[i] = take_a ? a_keys[a] : b_keys[b];
        items[i] = take_a ? a_items[a] : b_items[b];
        (take_a ? a : b)++;
    }
}
