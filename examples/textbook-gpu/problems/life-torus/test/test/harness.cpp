// Tests life_torus with random boards, among them ones of one or two rows.
#include "harness.h"

using namespace textbook;

namespace {

using Board = std::vector<std::uint8_t>;

Board next_generation(const Board& before, int rows, int columns) {
    Board after(before.size());
    for (int i = 0; i < rows; ++i) {
        const int around[] = {(i + rows - 1) % rows, i, (i + 1) % rows};
        for (int j = 0; j < columns; ++j) {
            const int beside[] = {(j + columns - 1) % columns, j, (j + 1) % columns};
            int living = -before[i * columns + j];
            for (const int row : around) {
                for (const int column : beside) living += before[row * columns + column];
            }
            after[i * columns + j] = living == 3 || (living == 2 && before[i * columns + j] == 1) ? 1 : 0;
        }
    }
    return after;
}

void test_board(Suite& suite, int rows, int columns, int generations) {
    const auto name = std::to_string(rows) + " x " + std::to_string(columns) + ", " + std::to_string(generations) + " generations";
    suite.test(name, [&](Random& random) {
        Board start(static_cast<std::size_t>(rows) * columns);
        for (auto& cell : start) cell = random.between(0, 99) < 35 ? 1 : 0;
        auto end = random.garbage<std::uint8_t>(start.size());
        suite.call(in("start", start), out("end", end), rows, columns, generations);
        Board expected = start;
        for (int i = 0; i < generations; ++i) expected = next_generation(expected, rows, columns);
        expect_equal("end", end, expected);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const int boards[][2] = {{1, 1}, {1, 7}, {7, 1}, {2, 2}, {2, 9}, {3, 3}, {8, 8}, {16, 17}, {33, 31}, {5, 300}, {257, 19}};
    for (const auto& [rows, columns] : boards) {
        for (const int generations : {0, 1, 2, 5}) test_board(suite, rows, columns, generations);
    }
    test_board(suite, 40, 60, 50);
    return suite.end();
}
