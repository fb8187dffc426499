#include <algorithm>
#include <array>

#include "histogram.h"

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    std::array<std::uint32_t, 256> found{};
    for (std::size_t i = 0; i < size; ++i) found[data[i]]++;
    std::copy(found.begin(), found.end(), counts);
}
