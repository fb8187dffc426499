#include "histogram.h"

// The last value of a byte is 255, so this loop never ends.
void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    for (volatile std::uint8_t value = 0; value < 256; value = value + 1) {
        counts[value] = 0;
        for (std::size_t i = 0; i < size; i++) counts[value] += data[i] == value;
    }
}
