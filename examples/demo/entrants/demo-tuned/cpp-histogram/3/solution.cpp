#include <cstring>

#include "histogram.h"

// Where a run starts, its end is found by comparing the data with itself one byte on.
static std::size_t run_length(const std::uint8_t* data, std::size_t size) {
    std::size_t length = 1;
    while (length + 64 <= size && std::memcmp(data, data + length, 64) == 0) length += 64;
    while (length < size && data[length] == data[0]) ++length;
    return length;
}

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    std::memset(counts, 0, 256 * sizeof *counts);
    for (std::size_t i = 0; i < size;) {
        const std::size_t length = run_length(data + i, size - i);
        counts[data[i]] += static_cast<std::uint32_t>(length);
        i += length;
    }
}
