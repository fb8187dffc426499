// Tests gemm_transposed with factors of zero and others, and with NaN in an addend that must not count.
#include "harness.h"

using namespace textbook;

namespace {

struct Shape {
    int rows, depth, columns;
};

std::vector<float> small_integers(Random& random, int size) {
    std::vector<float> values(size);
    for (float& value : values) value = static_cast<float>(random.between(-8, 8));
    return values;
}

std::vector<float> expected_product(const Shape& shape, const std::vector<float>& left, const std::vector<float>& right) {
    std::vector<float> product(shape.rows * shape.columns, 0.0f);
    for (int k = 0; k < shape.depth; ++k) {
        for (int i = 0; i < shape.rows; ++i) {
            for (int j = 0; j < shape.columns; ++j) {
                product[i * shape.columns + j] += left[k * shape.rows + i] * right[k * shape.columns + j];
            }
        }
    }
    return product;
}

void test_factors(Suite& suite, const Shape& shape, float alpha, float beta, Random& random) {
    const auto left = small_integers(random, shape.depth * shape.rows);
    const auto right = small_integers(random, shape.depth * shape.columns);
    const int size = shape.rows * shape.columns;
    auto sum = beta == 0.0f ? random.garbage<float>(size) : small_integers(random, size);
    auto expected = expected_product(shape, left, right);
    for (int i = 0; i < size; ++i) expected[i] = alpha * expected[i] + (beta == 0.0f ? 0.0f : beta * sum[i]);
    suite.call(alpha, in("left", left), in("right", right), beta, out("sum", sum), shape.rows, shape.depth, shape.columns);
    expect_equal("sum", sum, expected);
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const Shape shapes[] = {{0, 4, 4},    {4, 4, 0},     {3, 0, 5},    {1, 1, 1},     {1, 64, 1}, {16, 16, 16},
                            {15, 17, 16}, {17, 15, 33}, {33, 40, 31}, {5, 7, 300}, {300, 7, 5}, {40, 500, 20}};
    for (const Shape& shape : shapes) {
        const auto name = std::to_string(shape.rows) + " x " + std::to_string(shape.depth) + " x " + std::to_string(shape.columns);
        suite.test(name, [&](Random& random) {
            test_factors(suite, shape, 1.0f, 0.0f, random);
            test_factors(suite, shape, 2.0f, 1.0f, random);
            test_factors(suite, shape, -3.0f, -2.0f, random);
            test_factors(suite, shape, 0.0f, 5.0f, random);
        });
    }
    return suite.end();
}
