#include <vector>

#include "sort_keys.h"

// Three passes of eleven bits.
static void pass(const std::uint32_t* from, std::uint32_t* to, std::size_t count, int shift) {
    std::size_t starts[2049] = {};
    for (std::size_t i = 0; i < count; ++i) ++starts[((from[i] >> shift) & 2047) + 1];
    for (int digit = 0; digit < 2048; ++digit) starts[digit + 1] += starts[digit];
    for (std::size_t i = 0; i < count; ++i) to[starts[(from[i] >> shift) & 2047]++] = from[i];
}

void sort_keys(std::uint32_t* keys, std::size_t count) {
    std::vector<std::uint32_t> first(count), second(count);
    pass(keys, first.data(), count, 0);
    pass(first.data(), second.data(), count, 11);
    pass(second.data(), keys, count, 22);
}
