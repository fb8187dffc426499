// Crashes on purpose: the table has room for 512 columns, and `at` throws beyond it.
#include <array>
#include <cstddef>
#include <cstdint>

extern "C" void solution(const int32_t* scores, int32_t* best, int32_t* places, size_t rows, size_t cols, size_t k) {
    for (size_t row = 0; row < rows; ++row, scores += cols, best += k, places += k) {
        std::array<bool, 512> taken{};
        for (size_t rank = 0; rank < k; ++rank) {
            size_t winner = cols;
            for (size_t i = 0; i < cols; ++i)
                if (!taken.at(i) && (winner == cols || scores[i] > scores[winner])) winner = i;
            taken.at(winner) = true;
            best[rank] = scores[winner];
            places[rank] = int32_t(winner);
        }
    }
}
