#include <algorithm>
#include <functional>

#include "sort_keys.h"

void sort_keys(std::uint32_t* keys, std::size_t count) {
    std::sort(keys, keys + count, std::less<std::uint32_t>());
}
