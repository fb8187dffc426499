#include <algorithm>

#include "sort_keys.h"

void sort_keys(std::uint32_t* keys, std::size_t count) {
    std::stable_sort(keys, keys + count);
}
