// Tests row_sort with rows of all kinds of lengths.
#include <algorithm>

#include "harness.h"

using namespace textbook;

namespace {

void test_matrix(Suite& suite, const std::vector<int>& matrix, int rows, int columns, Random& random) {
    auto sorted = random.garbage<int>(matrix.size());
    suite.call(in("matrix", matrix), out("sorted", sorted), rows, columns);
    auto expected = matrix;
    for (int row = 0; row < rows; ++row) {
        std::sort(expected.begin() + row * columns, expected.begin() + (row + 1) * columns);
    }
    expect_equal("sorted", sorted, expected);
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    constexpr int lowest = std::numeric_limits<int>::min(), highest = std::numeric_limits<int>::max();
    const int shapes[][2] = {{0, 8},  {8, 0},   {1, 1},   {5, 1},    {3, 2},     {7, 3},    {9, 31},
                             {4, 32}, {3, 100}, {2, 512}, {2, 1000}, {3, 1023}, {2, 1024}, {60, 17}};
    for (const auto& [rows, columns] : shapes) {
        suite.test(std::to_string(rows) + " x " + std::to_string(columns), [&, r = rows, c = columns](Random& random) {
            test_matrix(suite, random.integers(r * c, lowest, highest), r, c, random);
            test_matrix(suite, random.integers(r * c, -2, 2), r, c, random);
        });
    }
    suite.test("extreme values", [&](Random& random) {
        auto matrix = random.integers(4 * 300, -1, 1);
        for (int& value : matrix) value = value < 0 ? lowest : value > 0 ? highest : 0;
        test_matrix(suite, matrix, 4, 300, random);
    });
    return suite.end();
}
