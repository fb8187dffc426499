#include <cstring>

#include "histogram.h"

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    std::memset(counts, 0, 256 * sizeof(std::uint32_t));
    for (const std::uint8_t* end = data + size; data != end; ++data) counts[*data] += 1;
}
