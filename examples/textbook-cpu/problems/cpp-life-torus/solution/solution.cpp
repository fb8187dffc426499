#include <vector>

#include "life_torus.h"

static int living_around(const std::vector<std::uint8_t>& board, int rows, int columns, int i, int j) {
    int living = 0;
    for (int a = -1; a <= 1; ++a) {
        for (int b = -1; b <= 1; ++b) {
            if (a == 0 && b == 0) continue;
            living += board[(i + a + rows) % rows * columns + (j + b + columns) % columns];
        }
    }
    return living;
}

void life_torus(const std::uint8_t* start, std::uint8_t* end, int rows, int columns, int generations) {
    std::vector<std::uint8_t> board(start, start + rows * columns), next(board.size());
    for (int generation = 0; generation < generations; ++generation) {
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < columns; ++j) {
                const int living = living_around(board, rows, columns, i, j);
                next[i * columns + j] = living == 3 || (living == 2 && board[i * columns + j] == 1) ? 1 : 0;
            }
        }
        board.swap(next);
    }
    for (int cell = 0; cell < rows * columns; ++cell) end[cell] = board[cell];
}
