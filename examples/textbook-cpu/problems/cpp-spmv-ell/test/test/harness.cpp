// Tests spmv_ell with empty slots in all places.
#include "harness.h"

using namespace textbook;

namespace {

struct Matrix {
    int rows, width;
    std::vector<int> columns;
    std::vector<float> values;
};

float small_integer(Random& random) { return static_cast<float>(random.between(-8, 8)); }

// One slot in `one_in` is empty; 0 for none.
Matrix random_matrix(Random& random, int rows, int width, int breadth, int one_in) {
    Matrix matrix{rows, width, {}, {}};
    for (int slot = 0; slot < rows * width; ++slot) {
        const bool is_empty = one_in > 0 && random.between(1, one_in) == 1;
        matrix.columns.push_back(is_empty ? -1 : random.between(0, breadth - 1));
        matrix.values.push_back(is_empty ? std::numeric_limits<float>::quiet_NaN() : small_integer(random));
    }
    return matrix;
}

std::vector<float> expected_product(const Matrix& matrix, const std::vector<float>& x) {
    std::vector<float> y(matrix.rows, 0.0f);
    for (int slot = 0; slot < matrix.width; ++slot) {
        for (int row = 0; row < matrix.rows; ++row) {
            const int place = slot * matrix.rows + row;
            if (matrix.columns[place] >= 0) y[row] += matrix.values[place] * x[matrix.columns[place]];
        }
    }
    return y;
}

// Inputs with NaN are compared bit for bit, so the harness need not treat them apart.
void test_matrix(Suite& suite, int rows, int width, int breadth) {
    suite.test(std::to_string(rows) + " rows of " + std::to_string(width), [&](Random& random) {
        for (const int one_in : {0, 1, 2, 10}) {
            const Matrix matrix = random_matrix(random, rows, width, breadth, one_in);
            std::vector<float> x(breadth);
            for (float& value : x) value = small_integer(random);
            auto y = random.garbage<float>(rows);
            suite.call(in("columns", matrix.columns), in("values", matrix.values), in("x", x), out("y", y), rows, width);
            expect_equal("y", y, expected_product(matrix, x));
        }
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const int shapes[][3] = {{0, 3, 5},  {5, 0, 5},    {1, 1, 1},    {1, 256, 30},  {31, 3, 40},
                             {33, 7, 9}, {255, 2, 70}, {257, 5, 11}, {1000, 40, 7}, {20001, 4, 30000}};
    for (const auto& [rows, width, breadth] : shapes) test_matrix(suite, rows, width, breadth);
    return suite.end();
}
