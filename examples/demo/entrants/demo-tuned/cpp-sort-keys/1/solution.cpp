#include <utility>
#include <vector>

#include "sort_keys.h"

// Four passes of a byte; all four counts are taken in one reading.
void sort_keys(std::uint32_t* keys, std::size_t count) {
    std::vector<std::uint32_t> spare(count);
    std::uint32_t counts[4][256] = {};
    for (std::size_t i = 0; i < count; ++i) {
        for (int byte = 0; byte < 4; ++byte) ++counts[byte][(keys[i] >> (8 * byte)) & 255];
    }
    std::uint32_t *from = keys, *to = spare.data();
    for (int byte = 0; byte < 4; ++byte) {
        std::uint32_t places[256], sum = 0;
        for (int digit = 0; digit < 256; ++digit) {
            places[digit] = sum;
            sum += counts[byte][digit];
        }
        for (std::size_t i = 0; i < count; ++i) to[places[(from[i] >> (8 * byte)) & 255]++] = from[i];
        std::swap(from, to);
    }
}
