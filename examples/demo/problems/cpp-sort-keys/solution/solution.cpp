#include "sort_keys.h"

#include <algorithm>

void sort_keys(std::uint32_t* keys, std::size_t count) {
    std::sort(keys, keys + count);
}
