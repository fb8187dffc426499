#include <vector>

#include "histogram.h"

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    std::vector<std::size_t> found(256);
    for (std::size_t i = 0; i < size; i++) found.at(data[i])++;
    for (std::size_t value = 0; value < found.size(); value++) counts[value] = static_cast<std::uint32_t>(found[value]);
}
