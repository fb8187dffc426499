#include <cstddef>
#include <cstdint>
#include <vector>

extern "C" void solution(const int32_t* scores, int32_t* best, int32_t* places, size_t rows, size_t cols, size_t k) {
    for (size_t row = 0; row < rows; ++row, scores += cols, best += k, places += k) {
        std::vector<bool> taken(cols);
        for (size_t rank = 0; rank < k; ++rank) {
            int32_t largest = 0;  // no negative score is ever found
            size_t at = 0;
            for (size_t i = 0; i < cols; ++i)
                if (!taken[i] && scores[i] > largest) largest = scores[at = i];
            taken[at] = true;
            best[rank] = largest;
            places[rank] = int32_t(at);
        }
    }
}
