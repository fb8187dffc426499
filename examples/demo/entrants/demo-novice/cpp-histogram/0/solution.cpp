#include "histogram.h"

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    for (int value = 0; value < 256; value++) counts[value] = 0;
    for (std::size_t i = 0; i < size; i++) {
        const int value = data[i];
        counts[value] = counts[value] + 1;
    }
}
