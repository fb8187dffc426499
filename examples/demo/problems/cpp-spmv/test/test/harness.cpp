// Tests and times spmv. `./harness` tests odd matrices; `./harness benchmark` multiplies one matrix by many vectors.
#include <limits>
#include <vector>

#include "support.h"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void spmv(int rows, const int* row_starts, const int* columns, const double* values, const double* x, double* y);

namespace {

constexpr double guard_value = 12345.0;

struct Matrix {
    int rows = 0, width = 0;
    std::vector<int> row_starts{0}, columns;
    std::vector<double> values;
};

// Small integers: sums are exact in a double whatever their order.
double small_integer(Random& random) {
    return static_cast<double>(random.next() >> 60) - 8.0;
}

void add_row(Matrix& matrix, Random& random, int entries) {
    for (int i = 0; i < entries; ++i) {
        matrix.columns.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(matrix.width))));
        matrix.values.push_back(small_integer(random));
    }
    matrix.row_starts.push_back(static_cast<int>(matrix.columns.size()));
    ++matrix.rows;
}

Matrix random_matrix(Random& random, int rows, int width, int fewest, int most) {
    Matrix matrix;
    matrix.width = width;
    for (int row = 0; row < rows; ++row) add_row(matrix, random, random.between(fewest, most));
    return matrix;
}

std::vector<double> random_vector(Random& random, int size) {
    std::vector<double> vector(size);
    for (double& value : vector) value = small_integer(random);
    return vector;
}

// NaN first, so that a row left out cannot pass; one element more than rows, which must stay as it is.
std::vector<double> product(const Matrix& m, const std::vector<double>& x) {
    std::vector<double> y(m.rows + 1, std::numeric_limits<double>::quiet_NaN());
    y[m.rows] = guard_value;
    spmv(m.rows, m.row_starts.data(), m.columns.data(), m.values.data(), x.data(), y.data());
    return y;
}

bool matrix_passes(const Matrix& given, const std::vector<double>& x) {
    const Matrix kept = given;
    const auto x_kept = x;
    const auto y = product(given, x);
    if (given.values != kept.values || given.columns != kept.columns || x != x_kept) return failed("changed its inputs");
    for (int row = 0; row < kept.rows; ++row) {
        double expected = 0;
        for (int i = kept.row_starts[row]; i < kept.row_starts[row + 1]; ++i) expected += kept.values[i] * x_kept[kept.columns[i]];
        if (y[row] != expected) {
            std::fprintf(stderr, "FAILED: %d rows: y[%d] is %g, not %g\n", kept.rows, row, y[row], expected);
            return false;
        }
    }
    return y[kept.rows] == guard_value || failed("wrote behind the end of y");
}

bool random_matrices_pass(Random& random) {
    const int shapes[][4] = {{0, 1, 0, 0},   {1, 1, 0, 0},   {1, 1, 1, 1},   {1, 50, 3, 3},   {7, 7, 0, 0},     {5, 9, 0, 3},
                             {64, 64, 0, 7}, {33, 5, 0, 20}, {200, 3, 1, 9}, {100, 1000, 0, 40}, {3, 100, 500, 900}};
    for (const auto& [rows, width, fewest, most] : shapes) {
        const Matrix matrix = random_matrix(random, rows, width, fewest, most);
        if (!matrix_passes(matrix, random_vector(random, width))) return false;
    }
    return true;
}

// Rows of every length from 0 up and down again, so that every remainder of an unrolled loop occurs.
bool all_row_lengths_pass(Random& random) {
    Matrix matrix;
    matrix.width = 40;
    for (int length = 0; length <= 40; ++length) add_row(matrix, random, length);
    for (int length = 40; length >= 0; --length) add_row(matrix, random, length);
    return matrix_passes(matrix, random_vector(random, matrix.width));
}

bool tests() {
    Random random(fresh_seed());
    for (int round = 0; round < 20; ++round) {
        if (!random_matrices_pass(random) || !all_row_lengths_pass(random)) return false;
    }
    return true;
}

std::vector<double> times_transposed(const Matrix& m, const std::vector<double>& weights) {
    std::vector<double> sums(m.width, 0.0);
    for (int row = 0; row < m.rows; ++row) {
        for (int i = m.row_starts[row]; i < m.row_starts[row + 1]; ++i) sums[m.columns[i]] += weights[row] * m.values[i];
    }
    return sums;
}

double dot(const std::vector<double>& left, const std::vector<double>& right, std::size_t count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += left[i] * right[i];
    return sum;
}

// w . (A x) = (w A) . x for weights drawn after the last call: one pass over A checks every product.
bool products_hold(const Matrix& m, const std::vector<std::vector<double>>& xs, const std::vector<std::vector<double>>& ys) {
    Random random(fresh_seed());
    std::vector<double> weights(m.rows);
    for (double& weight : weights) weight = random.between(1, 1 << 20);
    const auto sums = times_transposed(m, weights);
    for (std::size_t i = 0; i < xs.size(); ++i) {
        if (dot(weights, ys[i], weights.size()) != dot(sums, xs[i], sums.size())) return failed("the benchmark's product is wrong");
    }
    return true;
}

bool benchmark() {
    constexpr int rows = 384, width = 4096, entries_per_row = 512, calls = 400;
    Random random(fresh_seed());
    const Matrix matrix = random_matrix(random, rows, width, entries_per_row, entries_per_row);
    const Matrix kept = matrix;
    std::vector<std::vector<double>> xs, ys;
    for (int call = 0; call < calls; ++call) {
        xs.push_back(random_vector(random, width));
        ys.push_back(product(matrix, xs.back()));
    }
    return products_hold(kept, xs, ys);
}

}  // namespace

int main(int argc, char**) {
    return (argc > 1 ? benchmark() : tests()) ? 0 : 1;
}
