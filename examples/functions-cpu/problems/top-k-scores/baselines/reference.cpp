// A partial sort of each row's columns by score, then by place.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

extern "C" void solution(const int32_t* scores, int32_t* best, int32_t* places, size_t rows, size_t cols, size_t k) {
    std::vector<int32_t> order(cols);
    for (size_t row = 0; row < rows; ++row, scores += cols, best += k, places += k) {
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + k, order.end(), [scores](int32_t left, int32_t right) {
            return scores[left] != scores[right] ? scores[left] > scores[right] : left < right;
        });
        for (size_t rank = 0; rank < k; ++rank) {
            places[rank] = order[rank];
            best[rank] = scores[order[rank]];
        }
    }
}
