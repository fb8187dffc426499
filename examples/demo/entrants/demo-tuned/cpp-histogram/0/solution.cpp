#include "histogram.h"

// Four tables, so that runs of one value do not wait for their own last store.
void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    std::uint32_t tables[4][256] = {};
    std::size_t i = 0;
    for (; i + 4 <= size; i += 4) {
        ++tables[0][data[i]];
        ++tables[1][data[i + 1]];
        ++tables[2][data[i + 2]];
        ++tables[3][data[i + 3]];
    }
    for (; i < size; ++i) ++tables[0][data[i]];
    for (int value = 0; value < 256; ++value) {
        counts[value] = tables[0][value] + tables[1][value] + tables[2][value] + tables[3][value];
    }
}
