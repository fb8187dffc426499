// Tests radix_sort with wide and narrow ranges of values.
#include <algorithm>

#include "harness.h"

using namespace textbook;

namespace {

void test_values(Suite& suite, const std::vector<int>& values, Random& random) {
    auto sorted = random.garbage<int>(values.size());
    suite.call(in("values", values), out("sorted", sorted), static_cast<int>(values.size()));
    auto expected = values;
    std::sort(expected.begin(), expected.end());
    expect_equal("sorted", sorted, expected);
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    constexpr int lowest = std::numeric_limits<int>::min(), highest = std::numeric_limits<int>::max();
    for (const int count : {0, 1, 2, 3, 32, 255, 256, 257, 511, 512, 513, 4097, 30011}) {
        suite.test("count " + std::to_string(count), [&](Random& random) {
            test_values(suite, random.integers(count, lowest, highest), random);
            test_values(suite, random.integers(count, -300, 300), random);
        });
    }
    suite.test("extreme values", [&](Random& random) {
        auto values = random.integers(3000, -2, 2);
        for (int& value : values) value = value < -1 ? lowest : value > 1 ? highest : value;
        test_values(suite, values, random);
    });
    suite.test("descending", [&](Random& random) {
        std::vector<int> values(5000);
        for (int i = 0; i < 5000; ++i) values[i] = 1000 * (2500 - i);
        test_values(suite, values, random);
    });
    return suite.end();
}
