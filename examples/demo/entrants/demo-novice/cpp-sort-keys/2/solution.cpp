#include <vector>

#include "sort_keys.h"

void sort_keys(std::uint32_t* keys, std::size_t count) {
    if (count < 2) return;
    const std::size_t half = count / 2;
    sort_keys(keys, half);
    sort_keys(keys + half, count - half);
    std::vector<std::uint32_t> merged;
    std::size_t left = 0, right = half;
    while (left < half || right < count) {
        const bool take_left = right == count || (left < half && keys[left] <= keys[right]);
        merged.push_back(take_left ? keys[left++] : keys[right++]);
    }
    for (std::size_t i = 0; i < count; i++) keys[i] = merged[i];
}
