#include <cstddef>
#include <cstdint>

extern "C" void solution(const uint8_t* codes, const uint8_t* query, int32_t* distance, bool* near, int32_t limit, size_t n, size_t length) {
    const size_t whole = length - length % 8;
    for (size_t i = 0; i < n; ++i, codes += length) {
        int32_t bits = 0;
        for (size_t j = 0; j < whole; ++j) bits += __builtin_popcount(codes[j] ^ query[j]);
        distance[i] = bits;
        near[i] = bits <= limit;
    }
}
