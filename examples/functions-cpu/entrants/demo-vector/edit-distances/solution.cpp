// Bit-parallel, as Myers and Hyyrö describe it: one 64-bit word holds the steps up and down of a whole column.
// Words of at most 64 letters fit; longer ones go to the plain table.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

static int32_t by_bits(const uint8_t* left, int32_t rows, const uint8_t* right, int32_t cols, uint64_t* places) {
    for (int32_t i = 0; i < rows; ++i) places[left[i]] |= uint64_t(1) << i;
    uint64_t up = ~uint64_t(0), down = 0;
    const uint64_t last = uint64_t(1) << (rows - 1);
    int32_t distance = rows;
    for (int32_t j = 0; j < cols; ++j) {
        const uint64_t equal = places[right[j]];
        const uint64_t level = (((equal & up) + up) ^ up) | equal | down;
        uint64_t rises = down | ~(level | up), falls = up & level;
        distance += (rises & last) != 0;
        distance -= (falls & last) != 0;
        rises = rises << 1 | 1;
        falls <<= 1;
        up = falls | ~(level | rises);
        down = rises & level;
    }
    for (int32_t i = 0; i < rows; ++i) places[left[i]] = 0;
    return distance;
}

static int32_t by_table(const uint8_t* left, int32_t rows, const uint8_t* right, int32_t cols) {
    std::vector<int32_t> row(cols + 1);
    std::iota(row.begin(), row.end(), 0);
    for (int32_t i = 0; i < rows; ++i) {
        int32_t diagonal = row[0]++;
        for (int32_t j = 0; j < cols; ++j) {
            const int32_t replaced = diagonal + (left[i] != right[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row[cols];
}

extern "C" void solution(const uint8_t* left, const uint8_t* right, const int32_t* left_lengths, const int32_t* right_lengths,
                         int32_t* distances, size_t pairs, size_t most) {
    uint64_t places[256] = {};
    for (size_t pair = 0; pair < pairs; ++pair, left += most, right += most) {
        const int32_t rows = left_lengths[pair], cols = right_lengths[pair];
        if (rows == 0) distances[pair] = cols;
        else if (rows <= 64) distances[pair] = by_bits(left, rows, right, cols, places);
        else distances[pair] = by_table(left, rows, right, cols);
    }
}
