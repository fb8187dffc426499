#include <algorithm>

#include "sort_keys.h"

void sort_keys(std::uint32_t* keys, std::size_t count) {
    std::make_heap(keys, keys + count);
    std::sort_heap(keys, keys + count);
}
