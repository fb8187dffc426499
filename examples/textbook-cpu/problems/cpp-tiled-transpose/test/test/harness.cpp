// Tests tiled_transpose with shapes around those of tiles, rows and columns.
#include "harness.h"

using namespace textbook;

namespace {

void test_shape(Suite& suite, int rows, int columns) {
    suite.test(std::to_string(rows) + " x " + std::to_string(columns), [&](Random& random) {
        const auto matrix = random.garbage<std::uint32_t>(static_cast<std::size_t>(rows) * columns);
        auto transposed = random.garbage<std::uint32_t>(matrix.size());
        suite.call(in("matrix", matrix), out("transposed", transposed), rows, columns);
        std::vector<std::uint32_t> expected;
        for (int j = 0; j < columns; ++j) {
            for (int i = 0; i < rows; ++i) expected.push_back(matrix[static_cast<std::size_t>(i) * columns + j]);
        }
        expect_equal("transposed", transposed, expected);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const int shapes[][2] = {{0, 0},  {0, 9},   {9, 0},   {1, 1},   {1, 100}, {100, 1},   {32, 32},   {31, 33},  {33, 31},
                             {64, 32}, {32, 64}, {65, 70}, {7, 301}, {300, 8}, {65536, 3}, {2, 65536}, {257, 255}};
    for (const auto& [rows, columns] : shapes) test_shape(suite, rows, columns);
    return suite.end();
}
