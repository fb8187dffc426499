#include <cstring>

#include "histogram.h"

// Follows runs sixteen bytes at a time; elsewhere one table per byte of the word.
static bool same_as_first(const std::uint8_t* data) {
    std::uint64_t words[2];
    std::memcpy(words, data, 16);
    return words[0] == words[1] && words[0] == (words[0] & 255) * 0x0101010101010101u;
}

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    std::uint32_t tables[4][256] = {};
    std::size_t i = 0;
    while (i + 16 <= size) {
        if (same_as_first(data + i)) {
            tables[0][data[i]] += 16;
        } else {
            for (int lane = 0; lane < 16; ++lane) ++tables[lane % 4][data[i + lane]];
        }
        i += 16;
    }
    for (; i < size; ++i) ++tables[0][data[i]];
    for (int value = 0; value < 256; ++value) {
        counts[value] = 0;
        for (const auto& table : tables) counts[value] += table[value];
    }
}
