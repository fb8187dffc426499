#include "histogram.h"

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    for (std::size_t i = 0; i < size; i++) counts[data[i]]++;
}
