#include <algorithm>
#include <utility>
#include <vector>

#include "counting_sort.h"

void counting_sort(const std::uint8_t* keys, const int* items, int count, std::uint8_t* sorted_keys, int* sorted_items) {
    std::vector<std::pair<int, int>> all;
    for (int i = 0; i < count; ++i) all.emplace_back(keys[i], items[i]);
    std::sort(all.begin(), all.end());
    for (int i = 0; i < count; ++i) {
        sorted_keys[i] = static_cast<std::uint8_t>(all[i].first);
        sorted_items[i] = all[i].second;
    }
}
