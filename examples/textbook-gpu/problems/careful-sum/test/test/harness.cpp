// Tests careful_sum with large values that cancel each other out between small ones.
#include <utility>

#include "harness.h"

using namespace textbook;

namespace {

void test_values(Suite& suite, const std::vector<float>& values, Random& random) {
    auto sum = random.garbage<float>(1);
    suite.call(in("values", values), static_cast<int>(values.size()), out("sum", sum));
    long double expected = 0.0L;
    for (const float value : values) expected += value;
    expect_close("sum", sum, {static_cast<double>(expected)}, 1e-6, 0.01);
}

// Pairs of a large value and its opposite, in random places between small values.
std::vector<float> cancelling_values(Random& random, int count, int pairs) {
    auto values = random.floats(count, 0.0f, 1.0f);
    for (int i = 0; i < pairs; ++i) {
        values[2 * i] = random.uniform(1e7f, 1e8f);
        values[2 * i + 1] = -values[2 * i];
    }
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.next() % i]);
    return values;
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 2, 31, 33, 255, 256, 257, 1000, 65537, 250007}) {
        suite.test("count " + std::to_string(count), [&](Random& random) {
            test_values(suite, random.floats(count, -1.0f, 1.0f), random);
            test_values(suite, random.floats(count, 0.0f, 1e8f), random);
            test_values(suite, cancelling_values(random, count, count / 5), random);
            if (count > 100) test_values(suite, cancelling_values(random, count, 20), random);
        });
    }
    return suite.end();
}
