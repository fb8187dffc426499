#include <algorithm>
#include <vector>

#include "sort_keys.h"

// One pass by the top twelve bits, then short sorts inside each bucket.
constexpr int bits = 12, buckets = 1 << bits;

void sort_keys(std::uint32_t* keys, std::size_t count) {
    const std::vector<std::uint32_t> copy(keys, keys + count);
    std::vector<std::size_t> starts(buckets + 1);
    for (const std::uint32_t key : copy) ++starts[(key >> (32 - bits)) + 1];
    for (int bucket = 0; bucket < buckets; ++bucket) starts[bucket + 1] += starts[bucket];
    std::vector<std::size_t> places(starts);
    for (const std::uint32_t key : copy) keys[places[key >> (32 - bits)]++] = key;
    for (int bucket = 0; bucket < buckets; ++bucket) std::sort(keys + starts[bucket], keys + starts[bucket + 1]);
}
