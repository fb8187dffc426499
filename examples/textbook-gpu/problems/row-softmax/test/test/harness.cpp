// Tests row_softmax with small, large and infinite scores.
#include <cmath>

#include "harness.h"

using namespace textbook;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<double> expected_shares(const std::vector<float>& scores, int rows, int columns) {
    std::vector<double> shares(scores.size(), 0.0);
    for (int i = 0; i < rows; ++i) {
        const float* row = scores.data() + static_cast<std::size_t>(i) * columns;
        double largest = -infinity, sum = 0.0;
        for (int j = 0; j < columns; ++j) largest = row[j] > largest ? row[j] : largest;
        if (largest == -infinity) continue;
        for (int j = 0; j < columns; ++j) sum += std::exp(row[j] - largest);
        for (int j = 0; j < columns; ++j) shares[static_cast<std::size_t>(i) * columns + j] = std::exp(row[j] - largest) / sum;
    }
    return shares;
}

void test_scores(Suite& suite, const std::vector<float>& scores, int rows, int columns, Random& random) {
    auto shares = random.garbage<float>(scores.size());
    suite.call(in("scores", scores), out("shares", shares), rows, columns);
    expect_close("shares", shares, expected_shares(scores, rows, columns), 1e-4, 1e-7);
}

std::vector<float> with_infinities(std::vector<float> scores, int columns, Random& random) {
    for (float& score : scores) {
        if (random.between(0, 2) == 0) score = -infinity;
    }
    for (int j = 0; j < columns; ++j) scores[j] = -infinity;
    return scores;
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const int shapes[][2] = {{0, 5}, {5, 0}, {1, 1}, {3, 2}, {2, 31}, {3, 33}, {4, 128}, {5, 129}, {2, 1000}, {1, 5000}, {20000, 3}};
    for (const auto& [rows, columns] : shapes) {
        suite.test(std::to_string(rows) + " x " + std::to_string(columns), [&, r = rows, c = columns](Random& random) {
            const auto small = random.floats(static_cast<std::size_t>(r) * c, -5.0f, 5.0f);
            test_scores(suite, small, r, c, random);
            test_scores(suite, random.floats(small.size(), -1e4f, 1e4f), r, c, random);
            test_scores(suite, random.floats(small.size(), 9990.0f, 1e4f), r, c, random);
            test_scores(suite, random.floats(small.size(), -1e4f, -9990.0f), r, c, random);
            if (r > 0) test_scores(suite, with_infinities(small, c, random), r, c, random);
        });
    }
    return suite.end();
}
