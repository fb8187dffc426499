#include <vector>

#include "life_torus.h"

// A border around the board; its corners are forgotten.
void life_torus(const std::uint8_t* start, std::uint8_t* end, int rows, int columns, int generations) {
    const int across = columns + 2;
    std::vector<std::uint8_t> board(static_cast<std::size_t>(across) * (rows + 2), 0);
    for (int cell = 0; cell < rows * columns; ++cell) end[cell] = start[cell];
    for (int generation = 0; generation < generations; ++generation) {
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < columns; ++j) board[(i + 1) * across + j + 1] = end[i * columns + j];
            board[(i + 1) * across] = end[i * columns + columns - 1];
            board[(i + 1) * across + columns + 1] = end[i * columns];
        }
        for (int j = 0; j < columns; ++j) {
            board[j + 1] = end[(rows - 1) * columns + j];
            board[(rows + 1) * across + j + 1] = end[j];
        }
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < columns; ++j) {
                const std::uint8_t* at = &board[i * across + j];
                int living = -at[across + 1];
                for (int k = 0; k < 9; ++k) living += at[k / 3 * across + k % 3];
                end[i * columns + j] = living == 3 || (living == 2 && at[across + 1] != 0) ? 1 : 0;
            }
        }
    }
}
