#include <vector>

#include "counting_sort.h"

void counting_sort(const std::uint8_t* keys, const int* items, int count, std::uint8_t* sorted_keys, int* sorted_items) {
    std::vector<int> places(256, 0);
    for (int i = 0; i < count; ++i) ++places[keys[i]];
    int sum = 0;
    for (int& place : places) {
        const int here = place;
        place = sum;
        sum += here;
    }
    for (int i = 0; i < count; ++i) {
        const int to = places[keys[i]]++;
        sorted_keys[to] = keys[i];
        sorted_items[to] = items[i];
    }
}
