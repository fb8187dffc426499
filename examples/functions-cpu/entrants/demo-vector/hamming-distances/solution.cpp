// Eight bytes at a time. Wrong on purpose: of a code longer than eight bytes, the bytes after the last whole word are forgotten.
#include <cstddef>
#include <cstdint>
#include <cstring>

static int32_t bits_that_differ(const uint8_t* code, const uint8_t* query, size_t length) {
    int32_t bits = 0;
    for (size_t j = 0; j + 8 <= length; j += 8) {
        uint64_t left, right;
        std::memcpy(&left, code + j, 8);
        std::memcpy(&right, query + j, 8);
        bits += __builtin_popcountll(left ^ right);
    }
    if (length < 8)
        for (size_t j = 0; j < length; ++j) bits += __builtin_popcount(code[j] ^ query[j]);
    return bits;
}

extern "C" void solution(const uint8_t* codes, const uint8_t* query, int32_t* distance, bool* near, int32_t limit, size_t n, size_t length) {
    for (size_t i = 0; i < n; ++i) {
        distance[i] = bits_that_differ(codes + i * length, query, length);
        near[i] = distance[i] <= limit;
    }
}
