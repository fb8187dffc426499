// One row of the table for each pair, cell by cell.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

extern "C" void solution(const uint8_t* left, const uint8_t* right, const int32_t* left_lengths, const int32_t* right_lengths,
                         int32_t* distances, size_t pairs, size_t most) {
    std::vector<int32_t> row(most + 1);
    for (size_t pair = 0; pair < pairs; ++pair, left += most, right += most) {
        std::iota(row.begin(), row.end(), 0);
        for (int32_t i = 0; i < left_lengths[pair]; ++i) {
            int32_t diagonal = row[0]++;
            for (int32_t j = 0; j < right_lengths[pair]; ++j) {
                const int32_t replaced = diagonal + (left[i] != right[j]);
                diagonal = row[j + 1];
                row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
            }
        }
        distances[pair] = row[right_lengths[pair]];
    }
}
