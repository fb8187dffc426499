#include "histogram.h"

// Two tables, one for even and one for odd places.
void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    std::uint32_t odd[256] = {};
    for (int value = 0; value < 256; ++value) counts[value] = 0;
    std::size_t i = 0;
    for (; i + 1 < size; i += 2) {
        ++counts[data[i]];
        ++odd[data[i + 1]];
    }
    if (i < size) ++counts[data[i]];
    for (int value = 0; value < 256; ++value) counts[value] += odd[value];
}
