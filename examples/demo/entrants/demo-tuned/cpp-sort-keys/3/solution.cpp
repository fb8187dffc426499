#include <cstring>
#include <vector>

#include "sort_keys.h"

// Small inputs by insertion, large ones in four byte passes that skip a byte all keys share.
static void insertion_sort(std::uint32_t* keys, std::size_t count) {
    for (std::size_t i = 1; i < count; ++i) {
        const std::uint32_t key = keys[i];
        std::size_t place = i;
        for (; place > 0 && keys[place - 1] > key; --place) keys[place] = keys[place - 1];
        keys[place] = key;
    }
}

static bool byte_pass(const std::uint32_t* from, std::uint32_t* to, std::size_t count, int shift) {
    std::size_t places[256] = {}, sum = 0;
    for (std::size_t i = 0; i < count; ++i) ++places[(from[i] >> shift) & 255];
    if (places[(from[0] >> shift) & 255] == count) return false;
    for (std::size_t& place : places) {
        const std::size_t size = place;
        place = sum;
        sum += size;
    }
    for (std::size_t i = 0; i < count; ++i) to[places[(from[i] >> shift) & 255]++] = from[i];
    return true;
}

void sort_keys(std::uint32_t* keys, std::size_t count) {
    if (count < 64) return insertion_sort(keys, count);
    std::vector<std::uint32_t> spare(count);
    std::uint32_t *from = keys, *to = spare.data();
    for (int shift = 0; shift < 32; shift += 8) {
        if (!byte_pass(from, to, count, shift)) continue;
        std::uint32_t* const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != keys) std::memcpy(keys, from, count * sizeof *keys);
}
