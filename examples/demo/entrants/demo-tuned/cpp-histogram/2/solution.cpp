#include <cstring>

#include "histogram.h"

// A word of eight equal bytes is one addition; other words go byte by byte.
void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    std::uint32_t even[256] = {}, odd[256] = {};
    std::size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        std::uint64_t word;
        std::memcpy(&word, data + i, 8);
        if (word == (word & 255) * 0x0101010101010101u) {
            even[word & 255] += 8;
            continue;
        }
        for (int shift = 0; shift < 64; shift += 16) {
            ++even[(word >> shift) & 255];
            ++odd[(word >> (shift + 8)) & 255];
        }
    }
    for (; i < size; ++i) ++even[data[i]];
    for (int value = 0; value < 256; ++value) counts[value] = even[value] + odd[value];
}
