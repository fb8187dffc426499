#include <cstring>
#include <vector>

#include "life_torus.h"

void life_torus(const std::uint8_t* start, std::uint8_t* end, int rows, int columns, int generations) {
    std::memcpy(end, start, rows * columns);
    for (int g = 0; g < generations; ++g) {
        const std::vector<std::uint8_t> old(end, end + rows * columns);
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j) {
                int n = 0;
                for (int a = -1; a <= 1; ++a)
                    for (int b = -1; b <= 1; ++b)
                        if (a != 0 && b != 0) n += old[(i + a + rows) % rows * columns + (j + b + columns) % columns];
                end[i * columns + j] = n == 3 || (n == 2 && old[i * columns + j]);
            }
    }
}
