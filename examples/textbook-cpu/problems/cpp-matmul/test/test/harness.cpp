// Tests matmul with shapes around those of tiles, and with matrices that are narrow, flat or empty.
#include "harness.h"

using namespace textbook;

namespace {

std::vector<float> small_integers(Random& random, std::size_t size) {
    std::vector<float> values(size);
    for (float& value : values) value = static_cast<float>(random.between(-8, 8));
    return values;
}

std::vector<float> expected_product(const std::vector<float>& left, const std::vector<float>& right, int rows, int depth,
                                    int columns) {
    std::vector<float> product(static_cast<std::size_t>(rows) * columns, 0.0f);
    for (int row = 0; row < rows; ++row) {
        for (int k = 0; k < depth; ++k) {
            for (int column = 0; column < columns; ++column) {
                product[row * columns + column] += left[row * depth + k] * right[k * columns + column];
            }
        }
    }
    return product;
}

void test_shape(Suite& suite, int rows, int depth, int columns) {
    const auto name = std::to_string(rows) + " x " + std::to_string(depth) + " x " + std::to_string(columns);
    suite.test(name, [&](Random& random) {
        const auto left = small_integers(random, static_cast<std::size_t>(rows) * depth);
        const auto right = small_integers(random, static_cast<std::size_t>(depth) * columns);
        auto product = random.garbage<float>(static_cast<std::size_t>(rows) * columns);
        suite.call(in("left", left), in("right", right), out("product", product), rows, depth, columns);
        expect_equal("product", product, expected_product(left, right, rows, depth, columns));
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const int shapes[][3] = {{0, 4, 4},    {4, 4, 0},    {0, 0, 0},    {3, 0, 5},     {1, 1, 1},     {1, 64, 1},    {16, 16, 16},
                             {15, 17, 16}, {17, 15, 33}, {32, 1, 32},  {31, 100, 29}, {64, 48, 96}, {100, 7, 130}, {1, 30, 2048},
                             {2048, 3, 1}, {65, 1024, 5}};
    for (const auto& [rows, depth, columns] : shapes) test_shape(suite, rows, depth, columns);
    return suite.end();
}
