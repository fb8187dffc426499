#include <algorithm>

#include "sort_keys.h"

// Quicksort with three parts, so that equal keys cost nothing twice.
void sort_keys(std::uint32_t* keys, std::size_t count) {
    while (count > 32) {
        const std::uint32_t a = keys[0], b = keys[count / 2], c = keys[count - 1];
        const std::uint32_t pivot = std::max(std::min(a, b), std::min(std::max(a, b), c));
        std::uint32_t* const end = keys + count;
        std::uint32_t* const lower = std::partition(keys, end, [pivot](std::uint32_t key) { return key < pivot; });
        std::uint32_t* const upper = std::partition(lower, end, [pivot](std::uint32_t key) { return key == pivot; });
        sort_keys(keys, static_cast<std::size_t>(lower - keys));
        keys = upper;
        count = static_cast<std::size_t>(end - upper);
    }
    std::sort(keys, keys + count);
}
