#include "counting_sort.h"

void counting_sort(const std::uint8_t* keys, const int* items, int count, std::uint8_t* sorted_keys, int* sorted_items) {
    int places[257] = {};
    for (int i = 0; i < count; ++i) ++places[keys[i] + 1];
    for (int key = 0; key < 256; ++key) places[key + 1] += places[key];
    for (int i = 0; i < count; ++i) {
        const int to = places[keys[i]]++;
        sorted_keys[to] = keys[i];
        sorted_items[to] = items[i];
    }
}
