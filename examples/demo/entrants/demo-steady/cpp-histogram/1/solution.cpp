#include <algorithm>

#include "histogram.h"

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    std::fill(counts, counts + 256, 0u);
    std::for_each(data, data + size, [counts](std::uint8_t value) { ++counts[value]; });
}
