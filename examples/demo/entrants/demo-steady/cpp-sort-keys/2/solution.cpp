#include <algorithm>
#include <vector>

#include "sort_keys.h"

// Sorted chunks, merged pairwise.
void sort_keys(std::uint32_t* keys, std::size_t count) {
    std::vector<std::uint32_t> spare(count);
    constexpr std::size_t chunk = 4096;
    for (std::size_t i = 0; i < count; i += chunk) std::sort(keys + i, keys + std::min(i + chunk, count));
    for (std::size_t width = chunk; width < count; width *= 2) {
        for (std::size_t i = 0; i < count; i += 2 * width) {
            const std::size_t middle = std::min(i + width, count), end = std::min(i + 2 * width, count);
            std::merge(keys + i, keys + middle, keys + middle, keys + end, spare.begin() + static_cast<long>(i));
        }
        std::copy(spare.begin(), spare.end(), keys);
    }
}
