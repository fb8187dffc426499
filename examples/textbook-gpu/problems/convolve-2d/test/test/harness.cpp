// Tests convolve_2d with filters of odd and even sides, also larger than the image.
#include <algorithm>

#include "harness.h"

using namespace textbook;

namespace {

struct Shape {
    int rows, columns, filter_rows, filter_columns;
};

std::vector<float> small_integers(Random& random, int size) {
    std::vector<float> values(size);
    for (float& value : values) value = static_cast<float>(random.between(-8, 8));
    return values;
}

float filtered_at(const Shape& shape, const std::vector<float>& image, const std::vector<float>& weights, int i, int j) {
    float sum = 0.0f;
    for (int a = 0; a < shape.filter_rows; ++a) {
        for (int b = 0; b < shape.filter_columns; ++b) {
            const int row = std::clamp(i + a - shape.filter_rows / 2, 0, shape.rows - 1);
            const int column = std::clamp(j + b - shape.filter_columns / 2, 0, shape.columns - 1);
            sum += weights[a * shape.filter_columns + b] * image[row * shape.columns + column];
        }
    }
    return sum;
}

void test_shape(Suite& suite, const Shape& shape) {
    const auto [rows, columns, filter_rows, filter_columns] = shape;
    const auto name = std::to_string(rows) + " x " + std::to_string(columns) + ", filter " + std::to_string(filter_rows) +
                      " x " + std::to_string(filter_columns);
    suite.test(name, [&suite, shape](Random& random) {
        const auto image = small_integers(random, shape.rows * shape.columns);
        const auto weights = small_integers(random, shape.filter_rows * shape.filter_columns);
        auto filtered = random.garbage<float>(image.size());
        suite.call(in("image", image), in("weights", weights), out("filtered", filtered), shape.rows, shape.columns,
                   shape.filter_rows, shape.filter_columns);
        std::vector<float> expected;
        for (int i = 0; i < shape.rows; ++i) {
            for (int j = 0; j < shape.columns; ++j) expected.push_back(filtered_at(shape, image, weights, i, j));
        }
        expect_equal("filtered", filtered, expected);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const int images[][2] = {{0, 0}, {0, 4}, {1, 1}, {1, 50}, {50, 1}, {16, 16}, {33, 31}, {100, 37}};
    const int filters[][2] = {{1, 1}, {3, 3}, {2, 5}, {16, 16}, {4, 1}};
    for (const auto& [rows, columns] : images) {
        for (const auto& [height, width] : filters) test_shape(suite, {rows, columns, height, width});
    }
    test_shape(suite, {4096, 5, 3, 2});
    test_shape(suite, {5, 4096, 3, 2});
    return suite.end();
}
